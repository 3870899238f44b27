import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createRequire } from 'node:module'
import { Console } from 'node:console'
import { PassThrough } from 'node:stream'
import { type EventLog, logEvents, TokenError } from '../../src/index.ts'
import { notifying } from '../support/notifying.ts'

/** Without the types of these packages, because `npm run typecheck` does not install them. */
const load = createRequire(import.meta.url) as unknown as (name: string) => never
type Levels = Record<'info' | 'warn' | 'error' | 'log', (...args: unknown[]) => void>

const NAMED = { name: 'bakery' }
const FIELDS = { ...NAMED, fields: true }

/** What a logger has written after a failed renewal of `bakery`. @param told Members that the logger adds. */
function writtenBy(log: EventLog, options: object): void {
  const { tokens, notify } = notifying()
  logEvents(tokens, log, options)
  const error = new TokenError('ERR_THROTTLED', 'responded with 429', { status: 429 })
  notify('renewalFailed', { error, nextAttemptAt: Date.UTC(2026, 0, 1) })
}

const LINE =
  'axios-evergreen (bakery): renewalFailed: no token request before 2026-01-01T00:00:00.000Z; ERR_THROTTLED: responded with 429'
const TOLD = { event: 'renewalFailed', name: 'bakery', code: 'ERR_THROTTLED', status: 429 }

afterEach(() => void jest.restoreAllMocks())

describe('F308: given common loggers', () => {
  it('when it is the console, then it prints the line', () => {
    const printed = new PassThrough()
    writtenBy(new Console(printed), NAMED)
    expect(String(printed.read())).toBe(`${LINE}\n`)
  })

  it('when it is pino, then the fields are members of its JSON, and the line is the message', () => {
    const printed = new PassThrough()
    writtenBy((load('pino') as (to: unknown) => EventLog)(printed), FIELDS)
    expect(JSON.parse(String(printed.read()))).toMatchObject({ level: 40, ...TOLD, msg: LINE })
  })

  it('when it is bunyan, then the same holds', () => {
    const printed = new PassThrough()
    const { createLogger } = load('bunyan') as { createLogger: (options: object) => EventLog }
    writtenBy(createLogger({ name: 'shop', streams: [{ stream: printed }] }), FIELDS)
    expect(JSON.parse(String(printed.read()))).toMatchObject({ level: 40, ...TOLD, msg: LINE })
  })

  const winston = (printed: PassThrough) => {
    const { createLogger, transports } = load('winston') as {
      createLogger: (options: object) => Levels
      transports: { Stream: new (options: object) => object }
    }
    return createLogger({ transports: [new transports.Stream({ stream: printed })] })
  }

  it('when it is winston, then the line is the message', () => {
    const printed = new PassThrough()
    writtenBy(winston(printed), NAMED)
    expect(JSON.parse(String(printed.read()))).toEqual({ level: 'warn', message: LINE })
  })

  it('when it is winston with fields, the line first, then they are members of its JSON', () => {
    const printed = new PassThrough()
    const logger = winston(printed)
    const at = (level: 'info' | 'warn' | 'error') => (fields: object, line: string) => logger[level](line, fields)
    writtenBy({ info: at('info'), warn: at('warn'), error: at('error') }, FIELDS)
    expect(JSON.parse(String(printed.read()))).toEqual({ level: 'warn', message: LINE, ...TOLD })
  })

  it("when it is Nest's, then it prints the line with its context, and without the adapter the error names the missing method", () => {
    const { Logger } = load('@nestjs/common') as { Logger: new (context: string) => Levels }
    const logger = new Logger('Tokens')
    const printed: string[] = []
    for (const stream of [process.stdout, process.stderr])
      jest.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
    writtenBy(
      {
        info: (line) => logger.log(line),
        warn: (line) => logger.warn(line),
        error: (line) => logger.error(line),
      },
      NAMED,
    )
    expect(printed.join('')).toMatch(/WARN.*Tokens.*axios-evergreen \(bakery\): renewalFailed/)
    expect(() => logEvents(notifying().tokens, logger)).toThrow(
      'log.info must be a function, got undefined: pass console, or an object whose info, warn and error call the methods of your logger',
    )
  })
})

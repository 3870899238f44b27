import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeAll } from '@jest/globals'
import { bundleSource } from '../../support/bundle.ts'

/** A program that runs in a separate process. The test and the program exchange lines. */
export interface Child {
  /** Lines printed so far. */
  readonly lines: readonly string[]
  /** What the program wrote to stderr: warnings, and the error that ended it. */
  readonly complaints: string
  /** The exit code, or the signal that ended the program. */
  readonly ended: Promise<number | string>
  /** Waits for a line with this beginning. @returns the rest of the line. @throws if the process ends without such a line. */
  said(beginning: string): Promise<string>
  /** Writes a line to the input of the program. */
  tell(line: string): void
  signal(name: NodeJS.Signals): void
}

let library: string | undefined
const running = new Set<ChildProcess>()

/** Builds the library for the programs of this file, and ends these programs after each test. */
export function withChildren(): void {
  beforeAll(async () => {
    library = await bundleSource()
  })
  afterEach(async () => {
    await Promise.all(
      [...running].map((child) => {
        child.kill('SIGKILL')
        return once(child, 'close')
      }),
    )
  })
}

/** Address of the library, for a program that `run` does not start. */
export const libraryUrl = () => library

/**
 * @param program ESM. It can use the names of the library, axios, `say(line)`, `heard(line)` and `holders()`: what keeps the
 * process alive, except for its pipes, after enough turns of the event loop for sockets to close.
 */
export function run(program: string, flags: readonly string[] = []): Child {
  const preamble = `
    import { createInterface } from 'node:readline'
    import axios from 'axios'
    import * as evergreen from ${JSON.stringify(library)}
    const { attachBearer, clientCredentials, createTokenManager, loginPassword, memoryStore } = evergreen
    const say = (line) => process.stdout.write(line + '\\n')
    createInterface({ input: process.stdin }).on('line', (line) => process.emit('heard ' + line))
    process.stdin.unref()
    const heard = async (line) => {
      process.stdin.ref()
      await new Promise((resolve) => process.once('heard ' + line, resolve))
      process.stdin.unref()
    }
    const holders = async () => {
      const left = () => process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap').join()
      for (let turn = 0; left() !== '' && turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return left()
    }
  `
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', preamble + program], {
    // The environment of jest has no proxies; the real one may have some.
    env: process.env,
  })
  running.add(child)
  const lines: string[] = []
  let printed = ''
  let complaints = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (printed + chunk.toString()).split('\n')
    printed = parts.pop() ?? ''
    lines.push(...parts)
  })
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  let isOver = false
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => {
    isOver = true
    running.delete(child)
    return (code ?? signal) as number | string
  })
  return {
    lines,
    get complaints() {
      return complaints
    },
    ended,
    async said(beginning) {
      for (;;) {
        const line = lines.find((one) => one.startsWith(beginning))
        if (line !== undefined) return line.slice(beginning.length)
        if (isOver) throw new Error(`It ended without '${beginning}': ${lines.join(' | ')} ${complaints}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    signal: (name) => void child.kill(name),
  }
}

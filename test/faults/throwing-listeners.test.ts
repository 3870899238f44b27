import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const SECRET = 'secret-of-the-webhook'
const emitWarning = process.emitWarning.bind(process)
afterEach(() => {
  process.emitWarning = emitWarning
})

interface Warning {
  readonly message: string
  readonly code?: string
  readonly detail?: string
}

/** @returns The process warnings from now on. */
function warnings(): Warning[] {
  const seen: Warning[] = []
  process.emitWarning = ((message: string, options: object) => void seen.push({ message, ...options })) as never
  return seen
}

/** A typo in a handler. */
const broken = () => {
  throw new ReferenceError(`notify is not defined, ${SECRET}`)
}
const rejecting = () => Promise.reject(new TypeError(SECRET))
const manager = (): TokenManager => createTokenManager({ source: new ScriptedSource() })

describe('F431: given a listener that throws', () => {
  it.each([
    ['throws', broken, 'ReferenceError'],
    ['rejects', rejecting, 'TypeError'],
    ['throws a text', () => Promise.reject(SECRET as unknown as Error), 'thrown string'],
  ])(
    'when it %s, then a process warning says so once, without its message, and others are called',
    async (_, listener, name) => {
      const seen = warnings()
      const tokens = manager()
      const heard: number[] = []
      const own = () => listener()
      tokens.on('renewed', own)
      tokens.on('renewed', () => heard.push(1))
      await tokens.getAccessToken()
      await tokens.renew()
      await settle()
      expect(heard).toEqual([1, 1])
      expect(seen).toEqual([
        expect.objectContaining({
          code: 'listener-threw',
          message: expect.stringContaining("A listener of the event 'renewed' threw"),
          detail: expect.stringContaining(name),
        }),
      ])
      expect(JSON.stringify(seen)).not.toContain(SECRET)
      await tokens.close()
    },
  )

  it('when two listeners throw, then both are reported; one of onAny, once for all events', async () => {
    const seen = warnings()
    const tokens = manager()
    tokens.on('renewed', () => broken())
    tokens.on('renewed', () => broken())
    tokens.onAny(() => broken())
    await tokens.getAccessToken()
    await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 1 })
    await settle()
    expect(seen.filter(({ code }) => code === 'listener-threw')).toHaveLength(3)
    await tokens.close()
  })

  it('when the warning names where, then the stack leads to the listener', async () => {
    const seen = warnings()
    const tokens = manager()
    tokens.on('renewed', () => broken())
    await tokens.getAccessToken()
    await settle()
    expect(seen[0]!.detail).toContain('throwing-listeners.test.ts')
    await tokens.close()
  })

  it('when the runtime has no process warnings, as a page, then the console shows an error', async () => {
    const error = jest.spyOn(console, 'error').mockImplementation(() => undefined)
    process.emitWarning = undefined as never
    const tokens = manager()
    tokens.on('renewed', () => broken())
    await tokens.getAccessToken()
    await settle()
    expect(error).toHaveBeenCalledTimes(1)
    expect(String(error.mock.calls[0])).toMatch(/^axios-evergreen: A listener of the event 'renewed' threw/)
    await tokens.close()
  })
})

import { describe, expect, it } from '@jest/globals'
import type { TokenManagerOptions } from '../../src/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

type Own = Partial<Record<keyof TokenRegister, unknown>>

/** A manager on a custom register, and a second one. */
function start(own: (inner: MemoryRegister) => Own, options: Partial<TokenManagerOptions> = {}) {
  const clock = manualClock()
  const inner = new MemoryRegister(clock)
  const register = {
    kind: 'own',
    read: (key: string) => inner.read(key),
    replace: (...given: Parameters<TokenRegister['replace']>) => inner.replace(...given),
    ...own(inner),
  } as TokenRegister
  const store = () => sharedStore(register, { onUnavailable: 'fail' })
  const source = new ScriptedSource({ pairs: true })
  return {
    ...manage(source, { store: store(), ...options }, clock),
    second: manage(source, { store: store() }, clock),
    inner,
  }
}

const reading = (changes: object) => (inner: MemoryRegister) => ({
  read: async (key: string) => ({ ...(await inner.read(key)), ...changes }),
})
const FORM = 'read(key) must return { value, now }, got'
const VALUE = 'value of read(key) must be a string or undefined, got'
const NOW = 'now of read(key) must be epoch ms, got'
const EPOCH = 'epoch of read(key) must be a string or undefined, got'
const REPLACED = 'replace(…) must return true or false, got'

/** What fetch throws if a server is gone. */
const gone = (cause: unknown) => new TypeError('fetch failed', { cause })

describe('given a custom register with an invalid result', () => {
  it.each<[string, string, (inner: MemoryRegister) => Own]>([
    ['read returns null', `${FORM} null`, () => ({ read: async () => null })],
    ['read returns undefined', `${FORM} undefined`, () => ({ read: async () => undefined })],
    ['read returns a bare string', `${FORM} string`, () => ({ read: async () => '{}' })],
    ['value is null', `${VALUE} null`, reading({ value: null })],
    ['value is a Buffer', `${VALUE} object`, reading({ value: Buffer.from('{}') })],
    ['now is missing', `${NOW} undefined`, reading({ now: undefined })],
    ['now is NaN', `${NOW} NaN`, reading({ now: NaN })],
    ['now is infinite', `${NOW} Infinity`, reading({ now: Infinity })],
    ['now is a bigint', `${NOW} bigint`, reading({ now: 1n })],
    ['now is a Date', `${NOW} object`, reading({ now: new Date() })],
    ['now is a string', `${NOW} string`, reading({ now: '1767225600000' })],
    ['epoch is a number', `${EPOCH} number`, reading({ epoch: 7 })],
    ['replace returns undefined', `${REPLACED} undefined`, () => ({ replace: async () => undefined })],
    ['replace returns a count', `${REPLACED} number`, () => ({ replace: async () => 0 })],
    ['replace returns a result', `${REPLACED} object`, () => ({ replace: async () => ({ rowCount: 0 }) })],
    [
      'read throws synchronously',
      'the register threw TypeError',
      () => ({ read: () => (undefined as unknown as Map<string, string>).get('') }),
    ],
    [
      'read rejects with an error',
      'the register threw Error',
      () => ({ read: () => Promise.reject(new Error('s3cret')) }),
    ],
    [
      'F416: its server is gone',
      'ECONNREFUSED',
      () => ({ read: () => Promise.reject(gone({ code: 'ECONNREFUSED' })) }),
    ],
    ['F416: fetch does not say why', 'fetch failed', () => ({ read: () => Promise.reject(gone({ code: 's3cret' })) })],
    ['F416: fetch gives no cause', 'fetch failed', () => ({ read: () => Promise.reject(gone(undefined)) })],
    [
      'F416: the limit of its request has passed',
      'no response: TimeoutError',
      () => ({ read: () => Promise.reject(new DOMException('s3cret', 'TimeoutError')) }),
    ],
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a register may reject with anything
    ['read rejects without a reason', 'the client failed', () => ({ read: () => Promise.reject() })],
  ])('when %s, then the event says so, and no token request is made (F416)', async (_, reason, own) => {
    const { tokens, observed, source, inner } = start(own)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(observed.storeUnavailable).toEqual([{ message: `The shared token store is unavailable (${reason})` }])
    expect([source.calls, inner.values.size]).toEqual([[], 0])
  })

  it('when a count arrives late, then it is ignored', async () => {
    const { tokens, second, clock } = start((inner) => ({
      async replace(...given: Parameters<TokenRegister['replace']>) {
        await new Promise<void>((resolve) => clock.setTimer(resolve, 2_000))
        return (await inner.replace(...given)) ? 1 : 0
      },
    }))
    const asked = outcome(tokens.getAccessToken())
    await clock.advance(3_000)
    expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(second.observed.storeUnavailable).toEqual([])
  })
})

describe('given a custom register without promises', () => {
  it('when it returns synchronously, then two managers share tokens, and none of its timers remains', async () => {
    const { tokens, second, source, clock } = start(() => {
      let stands: string | undefined
      return {
        read: () => ({ value: stands, now: clock.wallNow() }),
        replace(_: string, expected: string | undefined, value: string) {
          if (stands !== expected) return false
          stands = value
          return true
        },
      }
    })
    expect([await tokens.getAccessToken(), await second.tokens.getAccessToken()]).toEqual(['access-1', 'access-1'])
    expect(source.kinds).toBe('obtain')
  })
})

describe('given a custom register that cannot watch', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no channel')
      },
    ],
    ['returns no stop function', () => undefined],
    ['is async', () => Promise.resolve()],
    ['rejects', () => Promise.reject(new Error('no channel'))],
  ])('when its watch %s, then a waiting owner polls', async (_, watch) => {
    const { tokens, second, source, clock } = start(() => ({ watch }))
    const gate = held(() => source.grant())
    source.script.push(gate.answer)
    const first = tokens.getAccessToken()
    await settle()
    const waiting = outcome(second.tokens.getAccessToken())
    await settle()
    gate.open()
    await clock.advance(250)
    expect([await first, await waiting]).toEqual(['access-1', 'access-1'])
  })

  it('when its watch is not a function, then it is rejected', () => {
    expect(() => start(() => ({ watch: 'yes' }))).toThrow(
      new TypeError('register.watch must be a function, got string'),
    )
  })
})

describe('given a database that expires every record', () => {
  it('when a suspicion stops the account, then the stop is stored for a hundred years', async () => {
    const kept: number[] = []
    const { tokens, source, clock } = start(
      (inner) => ({
        replace(...given: Parameters<TokenRegister['replace']>) {
          kept.push(given[3])
          return inner.replace(...given)
        },
      }),
      { onSuspicious: 'stop' },
    )
    await tokens.getAccessToken()
    source.script.push(failing(401))
    await clock.advance(61_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
    expect(kept.at(-1)).toBe(36_525 * 86_400_000)
  })
})

describe('given a register that states how many steps its client runs at once', () => {
  it.each([0, -1, 1.5, NaN, '3', null])('when that is %p, then sharedStore rejects it by name', (capacity) => {
    const register = Object.assign(new MemoryRegister(), { capacity: capacity as never })
    expect(() => sharedStore(register)).toThrow(
      /^register\.capacity must be a whole number from 1, or undefined, got (number|string|null)$/,
    )
  })

  it('when that is one, then no step is sent before the response to the previous one (F296)', async () => {
    let [inFlight, most] = [0, 0]
    class One extends MemoryRegister {
      readonly capacity = 1

      override async read(key: string) {
        inFlight += 1
        most = Math.max(most, inFlight)
        await settle()
        inFlight -= 1
        return super.read(key)
      }
    }
    const store = sharedStore(new One())
    const fleet = ['a', 'b', 'c'].map((storeKey) => manage(new ScriptedSource(), { store, storeKey }))
    await Promise.all(fleet.map(({ tokens }) => tokens.getAccessToken()))
    expect(most).toBe(1)
  })
})

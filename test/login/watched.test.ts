import { describe, expect, it } from '@jest/globals'
import type { ManualClock } from '../../tools/testing/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { LoginSource } from '../support/people.ts'
import { manage, outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

const MINUTE = 60_000

/** A register that notifies its watchers with the key, as long as it is connected. It counts its steps. */
class NotifyingRegister extends MemoryRegister implements TokenRegister {
  readonly #watchers = new Set<(key?: string) => void>()
  isConnected = true
  reads = 0
  replaces = 0
  get watchers(): number {
    return this.#watchers.size
  }
  override read(key: string) {
    this.reads += 1
    return super.read(key)
  }
  override async replace(...given: Parameters<TokenRegister['replace']>): Promise<boolean> {
    this.replaces += 1
    const replaced = await super.replace(...given)
    if (replaced && this.isConnected) this.notify(given[0])
    return replaced
  }
  watch(onChange: (key?: string) => void): () => void {
    this.#watchers.add(onChange)
    return () => void this.#watchers.delete(onChange)
  }
  isWatching(): boolean {
    return this.isConnected
  }
  notify(key?: string): void {
    for (const onChange of this.#watchers) onChange(key)
  }
  connect(isConnected: boolean): void {
    this.isConnected = isConnected
    this.notify()
  }
}

function start(clock: ManualClock = manualClock()) {
  const register = new NotifyingRegister(clock)
  const owner = (storeKey = 'ada', store = sharedStore(register)) =>
    manage(
      new LoginSource({ pairs: true, lifetimeMs: 60 * MINUTE }),
      { store, storeKey, renewal: { keepWarm: 'never', jitter: 0 } },
      clock,
    ).tokens
  return { clock, register, owner }
}
const login = (name: string) => ({ accessToken: name, accessLifetimeMs: 60 * MINUTE, refreshToken: `${name}-r` })

/** Requests of some owners, one a second. */
async function used(clock: ManualClock, owners: ReturnType<ReturnType<typeof start>['owner']>[], seconds: number) {
  for (let second = 0; second < seconds; second += 1) {
    await Promise.all(owners.map((tokens) => outcome(tokens.getAccessToken())))
    await clock.advance(1_000)
  }
}

describe('given a register that notifies owners of changes, by key', () => {
  it('when a login is used for half an hour, then its owner checks the store once, and not every 30 s', async () => {
    const { clock, register, owner } = start()
    const tokens = owner()
    await tokens.adopt(login('a'))
    const before = register.reads
    await used(clock, [tokens], 1_800)
    expect(register.reads - before).toBeLessThanOrEqual(1)
  })

  it('when the user logs out in another process, then the owner notices within a second', async () => {
    const { clock, owner } = start()
    const [first, second] = [owner(), owner()]
    await first.adopt(login('a'))
    await used(clock, [first, second], 60)
    await second.logout()
    await clock.advance(1_000)
    expect(await outcome(first.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'logged-out',
    })
  })

  it('when another login changes, then no other owner checks', async () => {
    const { clock, register, owner } = start()
    const [ada, bob] = [owner('ada'), owner('bob')]
    await ada.adopt(login('a'))
    await bob.adopt(login('b'))
    await used(clock, [ada, bob], 60)
    await bob.renew()
    await settle()
    const before = register.reads
    await used(clock, [ada], 60)
    expect(register.reads).toBe(before)
  })

  it('when the register loses its connection, then owners check every 30 s, until it is back', async () => {
    const { clock, register, owner } = start()
    const [first, second] = [owner(), owner()]
    await first.adopt(login('a'))
    await used(clock, [first, second], 60)
    register.connect(false)
    await used(clock, [first], 2)
    await second.logout()
    await used(clock, [first], 31)
    expect(first.status()).toMatchObject({ login: 'required', loginReason: 'logged-out' })
    await first.adopt(login('b'))
    await used(clock, [first], 60)
    register.connect(true)
    await used(clock, [first], 60)
    const before = register.reads
    await used(clock, [first], 600)
    expect(register.reads).toBe(before)
  })

  it('when managers are closed, then the register has no watcher', async () => {
    const { clock, register, owner } = start()
    const store = sharedStore(register)
    const owners = [owner('ada', store), owner('bob', store)]
    for (const tokens of owners) await tokens.adopt(login('a'))
    await used(clock, owners, 40)
    expect(register.watchers).toBe(1)
    for (const tokens of owners) await tokens.close()
    expect(register.watchers).toBe(0)
  })

  it('when 200 logins are in use for two hours, then there are no more checks than renewals: one per login', async () => {
    const { clock, register, owner } = start()
    const store = sharedStore(register, { commandTimeoutMs: 60_000 })
    const owners = Array.from({ length: 200 }, (_, n) => owner(`user ${n}`, store))
    await Promise.all(owners.map((tokens, n) => tokens.adopt(login(`u${n}`))))
    const before = register.reads
    for (let minute = 0; minute < 240; minute += 1) {
      await Promise.all(owners.map((tokens) => outcome(tokens.getAccessToken())))
      await clock.advance(30_000)
    }
    const renewals = owners.reduce((sum, tokens) => sum + tokens.status().counts.refreshes, 0)
    // Each renewal reads once. Without `isWatching` there are 48 000 checks.
    expect(renewals).toBe(400)
    expect(register.reads - before - renewals).toBeLessThanOrEqual(renewals)
  })
})

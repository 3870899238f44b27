import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import axios, { type AxiosAdapter } from 'axios'
import { loginPassword, memoryStore, type Login, type TokenStore } from '../../src/index.ts'
import { internalOf } from '../../src/core/token-source.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { failing, listen, manage, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

const BASE_URL = 'https://tokens.example/api'
const theft = { evidence: 'unexplained', severity: 'high' }
const rotation = { evidence: 'credentials-changed', severity: 'medium' }

/** The service before the password was changed, and after it: the new one has no refresh token of the old password. */
let before: SimulatedService
let after: SimulatedService
let current: SimulatedService
/** What the secret manager holds. */
let secret: () => Login | Promise<Login>

beforeEach(async () => {
  ;[before, after] = await Promise.all([startTokenService(), startTokenService()])
  current = before
  secret = () => ({ ...current.login })
})
afterEach(() => Promise.all([before.close(), after.close()]))

const adapter: AxiosAdapter = (config) =>
  axios.getAdapter('http')({ ...config, url: config.url!.replace(BASE_URL, current.baseUrl) })

/** One process of the account. */
function start(store?: TokenStore) {
  const source = loginPassword({
    baseUrl: BASE_URL,
    account: 'bakery',
    credentials: () => secret(),
    transport: { adapter },
  })
  const tokens = managerOf(source, { retry: { maxAttempts: 2 }, ...(store && { store }) })
  return { tokens, observed: listen(tokens) }
}

/** An attacker uses the refresh token. */
async function steal(refreshToken: string) {
  const body = JSON.stringify({ data: { type: 'auth-token', attributes: { refresh: refreshToken } } })
  const headers = { 'Content-Type': 'application/vnd.api+json', Accept: 'application/vnd.api+json' }
  const { status } = await fetch(`${current.baseUrl}/token/refresh/`, { method: 'POST', body, headers })
  expect(status).toBe(200)
}

const stored = (register: MemoryRegister) => [...register.values.values()].map(({ value }) => value).join()
const refreshTokenIn = (register: MemoryRegister) => /refreshToken\\":\\"([^"\\]+)/.exec(stored(register))![1]!

describe('given a credentials function of Variant B', () => {
  it('F306: when the password changes and then a refresh token is stolen, both in one night, then only the theft is reported as one', async () => {
    const register = new MemoryRegister()
    const { tokens, observed } = start(sharedStore(register))
    await tokens.getAccessToken()
    await tokens.renew()
    current = after
    await tokens.renew()
    await settle()
    expect(observed.suspicious).toMatchObject([rotation])
    expect(observed.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
    await steal(refreshTokenIn(register))
    await tokens.renew()
    await settle()
    expect(observed.suspicious).toMatchObject([rotation, theft])
    expect(observed.renewalFailed).toEqual([])
  })

  it('F306: when the process that finds out has adopted the token set from the store, then it has the verdict too; the store holds 16 bits of a hash', async () => {
    const register = new MemoryRegister()
    const one = start(sharedStore(register))
    await one.tokens.getAccessToken()
    const other = start(sharedStore(register))
    await other.tokens.getAccessToken()
    expect(stored(register)).toMatch(/\\"credentials\\":\\"[0-9a-f]{4}\\"/)
    expect(stored(register)).not.toContain(before.login.password)
    current = after
    await other.tokens.renew()
    await settle()
    expect(other.observed.renewed.at(-1)).toMatchObject({ by: 'obtain' })
    expect(other.observed.suspicious).toMatchObject([rotation])
  })

  it('F306: when the new password is rejected too, then the verdict includes it', async () => {
    const { tokens, observed } = start()
    await tokens.getAccessToken()
    current = after
    secret = () => ({ login: after.login.login, password: 'not-yet' })
    await expect(tokens.renew()).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(observed.suspicious).toMatchObject([rotation])
    expect(observed.suspicionSettled).toMatchObject([{ verdict: 'account-rejected' }])
  })

  it('F306: when the function fails after the rejection, or returns the old password, then the rejection is theft', async () => {
    for (const next of [() => Promise.reject(new Error('vault is sealed')), () => ({ ...before.login })]) {
      current = before
      secret = () => ({ ...current.login })
      const { tokens, observed } = start(memoryStore())
      await tokens.getAccessToken()
      current = after
      secret = next
      await expect(tokens.renew()).rejects.toThrow()
      expect(observed.suspicious).toMatchObject([theft])
    }
  })
})

describe('given a credentials function that hangs after a rejection', () => {
  it('F306: when two seconds have passed, then the rejection is reported anyway', async () => {
    const clock = manualClock()
    const tokens = managerOf(
      loginPassword({ baseUrl: BASE_URL, account: 'bakery', credentials: () => secret(), transport: { adapter } }),
      { clock },
    )
    const observed = listen(tokens)
    await tokens.getAccessToken()
    current = after
    let asked: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => (asked = resolve))
    secret = () => (asked(), new Promise<never>(() => undefined))
    const renewal = tokens.renew().catch((error: unknown) => error)
    await isAsked
    await clock.advance(2_000)
    while (observed.suspicious.length === 0) await settle()
    expect(observed.suspicious).toMatchObject([theft])
    void tokens.close()
    await clock.advance(60_000)
    await renewal
  })
})

describe('given a custom source that states its credentials', () => {
  const secrets: string[] = []
  class OwnSource extends ScriptedSource {
    override async obtain(context: Parameters<ScriptedSource['obtain']>[0]) {
      internalOf(context).hasCredentials?.(secrets[0]!)
      return super.obtain(context)
    }
  }

  it('F306: when it states none at the rejection, then a change is unknown', async () => {
    secrets.splice(0, 1, 'first')
    const source = new OwnSource({ pairs: true })
    const { tokens, observed } = manage(source)
    await tokens.getAccessToken()
    secrets.splice(0, 1, 'second')
    source.script.push(failing(401))
    await tokens.renew()
    await settle()
    expect(observed.suspicious).toMatchObject([theft])
  })
})

import { afterEach, describe, expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { type DPoPKey, type ProvingKey } from '../../src/dpop/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { forResource, fromTokenResponse, oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { newKey } from '../dpop/support/keys.ts'
import { startThread } from '../oauth2/support/oidc-server.ts'
import { failureOf } from '../service/world.ts'
import { printFigure } from '../support/figure.ts'
import { outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { part } from '../support/part.ts'
import { randomFrom } from '../support/random.ts'
import { Traffic } from '../support/traffic.ts'
import { watchedClock } from '../support/watched-clock.ts'
import { ENCRYPTION_KEYS } from './encryption-keys.ts'

const APIS = ['orders', 'stock', 'billing', 'mail', 'search'].map((name) => `https://${name}.example.com`)
const PROCESSES = 10
const LIFETIMES = part(40, 10)
const LIFETIME_S = 60
const SEED = Number(process.env.RESOURCES_SEED ?? 418)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** What an access token is for, and whose it is. That of the login alone is no JWT. */
function claimsOf(token: string): { aud?: string; sub?: string; exp?: number; cnf?: { jkt: string } } {
  const [, payload] = token.split('.')
  return payload === undefined ? {} : (JSON.parse(Buffer.from(payload, 'base64url').toString()) as object)
}

async function started() {
  const { call, end } = startThread('api-provider.mjs', { apis: APIS, accessLifetimeS: LIFETIME_S })
  ends.push(end)
  const origin = await call<string>('start')
  const clock = watchedClock()
  const traffic = new Traffic()
  const store = sharedStore(new MemoryRegister(clock), { encryptionKeys: ENCRYPTION_KEYS })
  const open = (dpop?: DPoPKey): LoginManager => {
    const clientId = dpop ? 'dpop-app' : 'app'
    const source = oauth2({ issuer: origin, clientId, grant: 'login', account: 'one', ...(dpop && { dpop }) })
    Object.defineProperty(source, 'refresh', { value: traffic.counted(source.refresh!.bind(source)) })
    const login = createTokenManager({ source, store, clock, random: () => 0 })
    login.onAny(() => undefined)
    ends.push(() => login.close())
    return login
  }
  /** A person logs in, and the application redeems the code. */
  const logIn = async (user: string, key?: ProvingKey) => {
    const clientId = key ? 'dpop-app' : 'app'
    const code = await call<Record<string, string>>('logIn', [clientId, user])
    const url = `${origin}/token`
    const response = await fetch(url, {
      method: 'POST',
      headers: key ? { DPoP: await key.prove({ method: 'POST', url }) } : {},
      body: new URLSearchParams({ grant_type: 'authorization_code', client_id: clientId, ...code }),
    })
    return { ...fromTokenResponse((await response.json()) as Record<string, unknown>), subject: user }
  }
  const pass = async (ms: number) => {
    await traffic.idle()
    await call('moveClock', ms)
    await clock.advance(ms)
    await traffic.idle()
  }
  /** Lets time pass until it has settled. */
  const until = async <Value>(promise: Promise<Value>): Promise<Value> => {
    const waiting = { isOver: false }
    void promise.catch(() => undefined).then(() => (waiting.isOver = true))
    await traffic.idle()
    while (!waiting.isOver) await pass(1_000)
    return promise
  }
  return { origin, open, logIn, pass, until, counts: () => call<{ refreshes: number; reuses: number }>('counts') }
}

describe('given oidc-provider, whose access tokens are each for one API', () => {
  it.each([2, 5])(
    'when ten processes of one login use %i APIs over their lifetimes, then all requests are served, and each refresh token is presented once (F418)',
    async (count) => {
      const { open, logIn, pass, counts } = await started()
      const random = randomFrom(SEED)
      const apis = APIS.slice(0, count)
      const processes = Array.from({ length: PROCESSES }, () => {
        const login = open()
        return [login, ...apis.map((resource) => forResource(login, { resource }))]
      })
      const [login] = processes[0]! as [LoginManager]
      await login.adopt(await logIn('ada'))
      const answers: Promise<string>[] = []
      for (let lifetime = 0; lifetime < LIFETIMES; lifetime += 1) {
        const times = processes.map(() => (random() < 0.5 ? 0 : Math.floor(random() * LIFETIME_S)))
        for (let second = 0; second < LIFETIME_S; second += 1) {
          for (const [n, managers] of processes.entries())
            if (times[n] === second)
              for (const [at, one] of managers.entries())
                answers.push(
                  outcome(one.getAccessToken()).then((answer) =>
                    typeof answer === 'string' ? (claimsOf(answer).aud === apis[at - 1] ? '' : answer) : answer.code,
                  ),
                )
          await pass(1_000)
        }
      }
      const asked = LIFETIMES * PROCESSES * (count + 1)
      for (let n = 0; n < LIFETIME_S; n += 1) await pass(1_000)
      const faults = (await Promise.all(answers)).filter(Boolean)
      const { refreshes, reuses } = await counts()
      printFigure(
        `oidc-provider, ${count} APIs`,
        `seed ${SEED}: ${asked - faults.length} of ${asked} requests served in ${PROCESSES} processes over ${LIFETIMES} lifetimes, ${refreshes} exchanges, ${reuses} refresh tokens presented twice`,
      )
      expect([[...new Set(faults)], answers.length, reuses]).toEqual([[], asked, 0])
      expect(login.status().login).toBe('present')
    },
  )

  it('when two users log in in turn, then the tokens of all APIs are those of the second, in every process (F421)', async () => {
    const { open, logIn, pass, until, counts } = await started()
    const processes = Array.from({ length: 3 }, () => {
      const login = open()
      return [login, ...APIS.slice(0, 2).map((resource) => forResource(login, { resource }))] as const
    })
    const subjects = () =>
      Promise.all(processes.flatMap(([, ...apis]) => apis.map(async (api) => claimsOf(await api.getAccessToken()).sub)))
    for (const user of ['ada', 'bob']) {
      await until(processes[0]![0].adopt(await logIn(user)))
      for (let n = 0; n < LIFETIME_S; n += 1) await pass(1_000)
      expect(new Set(await until(subjects()))).toEqual(new Set([user]))
    }
    expect((await counts()).reuses).toBe(0)
  })

  // A limit of oidc-provider 9: it spends the refresh token before it refuses the resource, and returns no other one. Other clients meet it, too.
  it('when it refuses a resource that the login was not granted, then living tokens of the others serve on, and the next exchange ends the login (F420)', async () => {
    const { open, logIn, until } = await started()
    const login = open()
    await login.adopt(await logIn('ada'))
    const resources = [APIS[0]!, 'https://unknown.example.com', APIS[1]!]
    const [orders, unknown, stock] = resources.map((resource) => forResource(login, { resource }))
    const token = await until(orders!.getAccessToken())
    expect(await until(failureOf(unknown!.getAccessToken()))).toMatchObject({ serviceCode: 'invalid_target' })
    expect(login.status().login).toBe('present')
    expect(await until(failureOf(stock!.getAccessToken()))).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(orders!.peekAccessToken()).toBe(token)
  })

  it('when tokens are bound to a key, then the token of each API is bound to that of the login (F425)', async () => {
    const { open, logIn, until } = await started()
    const key = await newKey()
    const login = open(key)
    await login.adopt(await logIn('ada', key))
    const tokens = await until(Promise.all(APIS.map((resource) => forResource(login, { resource }).getAccessToken())))
    expect(tokens.map((token) => claimsOf(token).aud)).toEqual(APIS)
    expect(new Set(tokens.map((token) => claimsOf(token).cnf?.jkt))).toEqual(new Set([await key.thumbprint]))
  })
})

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'
import type { OpenableStore } from '../../src/core/token-store.ts'
import {
  attachBearer,
  createTokenManager,
  loginPassword,
  memoryStore,
  TokenError,
  type TokenGrant,
  type TokenSource,
  type TokenStore,
} from '../../src/index.ts'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { inProcess } from '../axios/support/in-process.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { newPair } from '../testing/world.ts'
import { listen, outcome } from '../support/managed.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { libraryUrl, run, withChildren } from './support/child.ts'

withChildren()

const services: SimulatedService[] = []
async function started(): Promise<SimulatedService> {
  const service = await startTokenService()
  services.push(service)
  return service
}
afterEach(() => Promise.all(services.splice(0).map((service) => service.close())))

const HOUR = 3_600_000
const literal = (value: unknown) => JSON.stringify(value)
const tokenCalls = ({ log }: SimulatedService) => log.map(({ kind, status }) => `${kind} ${status}`)

/** A token set that the service has just issued, in the form in which a store holds it. */
async function issuedPair(service: SimulatedService): Promise<Omit<StoredTokens, 'version'>> {
  const { access, refresh } = await newPair(service)
  const lifetimes = { accessLifetimeMs: 60_000, accessRemainingMs: 60_000, refreshRemainingMs: 6 * 3_600_000 }
  return { accessToken: access, refreshToken: refresh, ...lifetimes }
}

describe('given worker threads, each with its own manager', () => {
  it('when they renew at the same time, then each has its own token set, and no refresh token is presented twice (F123)', async () => {
    const service = await started()
    const { baseUrl, login } = service
    const program = `
      const { parentPort } = require('node:worker_threads')
      import(${literal(libraryUrl())}).then(async ({ createTokenManager, loginPassword }) => {
        const tokens = createTokenManager({ source: loginPassword(${literal({ baseUrl, ...login })}) })
        await tokens.getAccessToken()
        for (let n = 0; n < 3; n += 1) await tokens.renew()
        const { obtains, refreshes, failures, suspicions } = tokens.status().counts
        parentPort.postMessage([obtains, refreshes, failures, suspicions])
      })
    `
    const workers = [1, 2, 3].map(() => new Worker(program, { eval: true }))
    const told = await Promise.all(workers.map((worker) => once(worker, 'message')))
    await Promise.all(workers.map((worker) => worker.terminate()))
    expect(told).toEqual(Array(3).fill([[1, 3, 0, 0]]))
    expect(tokenCalls(service).sort()).toEqual([
      ...Array<string>(3).fill('obtain 200'),
      ...Array<string>(9).fill('refresh 200'),
    ])
  })
})

describe('given two processes that start from copies of one token set', () => {
  it('when both renew, then the second reports it, obtains once, and each continues with its own token set (F124)', async () => {
    const service = await started()
    const { baseUrl, login } = service
    const pair = await issuedPair(service)
    const program = `
      const store = memoryStore()
      const source = loginPassword(${literal({ baseUrl, ...login })})
      const clock = { wallNow: () => Date.now(), monotonicNow: () => performance.now() }
      const record = store.open(source.id, clock)
      await record.accept(await record.acquire('the image', 0, 1_000), ${literal(pair)})
      const tokens = createTokenManager({ source, store })
      tokens.on('suspicious', ({ evidence, severity }) => say('suspicious ' + evidence + ' ' + severity))
      tokens.on('suspicionSettled', ({ verdict }) => say('settled ' + verdict))
      say('starts with ' + await tokens.getAccessToken())
      for (const turn of ['first', 'second', 'third', 'fourth']) {
        await heard(turn)
        await tokens.renew()
        say(turn + ' done')
      }
    `
    const children = [run(program), run(program)]
    for (const child of children) expect(await child.said('starts with ')).toBe(pair.accessToken)
    for (const turn of ['first', 'second', 'third', 'fourth'])
      for (const child of children) {
        child.tell(turn)
        await child.said(`${turn} done`)
      }
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0])
    const suspicions = children.map(({ lines }) => lines.filter((line) => /^(suspicious|settled)/.test(line)))
    expect(suspicions).toEqual([[], ['suspicious unexplained high', 'settled token-only']])
    // The first obtain made the token set. The obtain after the rejection is the last, so the two processes do not log in alternately.
    expect(tokenCalls(service)).toEqual([
      ...['obtain 200', 'refresh 200', 'refresh 401', 'obtain 200'],
      ...Array<string>(6).fill('refresh 200'),
    ])
  })
})

describe('given a machine that is restored from an image with a token set in it', () => {
  /** Restores the image: its token set is unchanged, and the wall clock jumps by `laterMs`. */
  async function restored(service: SimulatedService, laterMs: number) {
    const clock = manualClock({ wallNow: Date.now() - laterMs })
    const store: TokenStore = memoryStore()
    const { baseUrl, login } = service
    const source = loginPassword({ baseUrl, ...login })
    const record = (store as OpenableStore).open(source.id, clock, { anomaly: () => {}, storeUnavailable: () => {} })
    const lease = await record.acquire('the image', 0, 1_000)
    if (lease.kind === 'granted') await record.accept(lease, await issuedPair(service))
    const tokens = createTokenManager({ source, store, clock, random: () => 0 })
    const first = await tokens.getAccessToken()
    clock.stepWall(laterMs)
    await clock.advance(1_000) // the minimum gap between two unforced renewals is a second
    return { tokens, told: listen(tokens), first }
  }

  it('when its refresh token was used since and has not expired, then that is reported as unexplained (F125)', async () => {
    const service = await started()
    const { tokens, told, first } = await restored(service, HOUR)
    await service.stealRefreshToken() // the original machine has used the refresh token since
    expect(await tokens.getAccessToken()).not.toBe(first)
    await tokens.renew()
    expect(told.suspicious).toMatchObject([{ evidence: 'unexplained', severity: 'high' }])
    expect(told.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
    expect(tokenCalls(service)).toEqual(['obtain 200', 'refresh 401', 'obtain 200', 'refresh 200'])
    await tokens.close()
  })

  it('when its refresh token has expired since, then it is not presented, and nothing is reported (F125)', async () => {
    const service = await started()
    const { tokens, told, first } = await restored(service, 6 * HOUR)
    await service.stealRefreshToken()
    expect(await tokens.getAccessToken()).not.toBe(first)
    expect(told.suspicious).toEqual([])
    expect(tokenCalls(service)).toEqual(['obtain 200', 'obtain 200'])
    await tokens.close()
  })
})

/** An account of which only the latest token set is valid: each obtain or refresh ends all earlier tokens. */
class JealousAccount {
  issued = 0
  readonly #clock: ManualClock

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  /** An API of this account, and a client with its own manager. */
  enter() {
    const obtainedAt: number[] = []
    const counts = { refused: 0, served: 0, surfaced: 0 }
    const source: TokenSource = {
      id: 'jealous',
      obtain: async () => {
        obtainedAt.push(this.#clock.monotonicNow())
        return this.#issue()
      },
      refresh: async (refreshToken) => {
        if (refreshToken === `refresh-${this.issued}`) return this.#issue()
        counts.refused += 1
        throw new TokenError('ERR_REFRESH_REJECTED', 'refused', { status: 401, serviceCode: '2007' })
      },
    }
    const tokens = managerOf(source, { clock: this.#clock })
    const { adapter } = inProcess(({ authorization }) => (authorization === `Bearer access-${this.issued}` ? 200 : 401))
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const call = async () => {
      const answer = await outcome(api.get('/wallet'))
      if (answer.status === 200) counts.served += 1
      else if (answer.status === 401) counts.surfaced += 1
    }
    return { obtainedAt, counts, call, told: listen(tokens) }
  }

  #issue(): TokenGrant {
    this.issued += 1
    const [accessToken, refreshToken] = [`access-${this.issued}`, `refresh-${this.issued}`]
    return { accessToken, accessLifetimeMs: 60_000, refreshToken, refreshLifetimeMs: HOUR }
  }
}

describe('given an account whose next token set ends all earlier ones, and two managers that share no store', () => {
  it('when both work for a minute, then each logs in every 6 s at most, and reports each rejected token (F81)', async () => {
    const clock = manualClock()
    const account = new JealousAccount(clock)
    const clients = [account.enter(), account.enter()]
    const work = async (who: typeof clients, seconds: number) => {
      for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
        await Promise.all(who.map(({ call }) => call()))
        await clock.advance(100)
      }
    }
    await work(clients, 60)
    for (const { obtainedAt, counts, told } of clients) {
      // The first obtain is that of a client without a token, so it does not count.
      const gaps = obtainedAt.slice(2).map((at, n) => at - obtainedAt[n + 1]!)
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(6_000)
      expect(counts.served).toBeGreaterThan(0)
      expect(counts.served + counts.surfaced).toBe(600)
      expect(new Set(told.suspicious.map(({ fingerprint }) => fingerprint)).size).toBe(counts.refused)
      expect(told.suspicious).toHaveLength(counts.refused)
      expect(counts.refused).toBeGreaterThan(5)
    }
    const [first] = clients
    await work([first!], 6)
    const { served, surfaced } = first!.counts
    await work([first!], 60)
    expect(first!.counts).toMatchObject({ served: served + 600, surfaced })
  })
})

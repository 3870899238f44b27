import { describe, expect, it } from '@jest/globals'
import { dpopKey } from '../../src/dpop/index.ts'
import { proofsOf } from '../../src/core/proof-port.ts'
import type { ProofResponse, Proofs } from '../../src/core/proofs.ts'
import type { Clock } from '../../src/core/clock.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { externalKey, newKey } from './support/keys.ts'
import { sha256, verified } from './support/verifier.ts'

const NOON = Date.parse('2026-11-22T12:00:00Z')
const HOUR = 3_600_000
const httpDate = (at: number) => new Date(at).toUTCString()

interface World {
  clock: ManualClock
  proofs: Proofs
  claims: (request?: Partial<Asked>) => Promise<ReturnType<typeof verified>['claims']>
  learn: (answer: Partial<ProofResponse>, request?: Partial<Asked>) => void
}
interface Asked {
  readonly method: string
  readonly url: string
  readonly token?: string
}

async function startWorld(): Promise<World> {
  const clock = manualClock({ wallNow: NOON })
  const proofs = proofsOf('dpop', await newKey())
  const whole = ({ url = 'https://api.example/', ...rest }: Partial<Asked>) => ({
    method: 'POST',
    url: new URL(url),
    ...rest,
  })
  return {
    clock,
    proofs,
    claims: async (request = {}) => verified((await proofs.prove(whole(request), clock)).text).claims,
    learn: (answer, request = {}) =>
      proofs.learn(
        whole(request),
        { status: 200, nonce: undefined, date: undefined, age: undefined, ...answer },
        clock,
      ),
  }
}

describe('given a request', () => {
  it('when it is a token request, then its proof names method, address and time, and no token', async () => {
    const { claims } = await startWorld()
    const said = await claims({ url: 'https://id.example/token' })
    expect(said).toEqual({ jti: said.jti, htm: 'POST', htu: 'https://id.example/token', iat: NOON / 1_000 })
  })

  it('when it carries a token, then its proof has the hash of that token', async () => {
    const { claims } = await startWorld()
    for (const token of ['one', 'two', 'one']) expect(await claims({ token })).toMatchObject({ ath: sha256(token) })
  })

  it.each([
    ['https://api.example/a?b=c&d=%2F#e', 'https://api.example/a'],
    ['https://api.example', 'https://api.example/'],
    ['https://API.example:443/ä/../%61 b', 'https://api.example/%61%20b'],
    ['https://user:password@api.example/', 'https://api.example/'],
    ['http://127.0.0.1:8080/a//b/', 'http://127.0.0.1:8080/a//b/'],
  ])('when its address is %s, then the proof has %s', async (url, htu) => {
    const { claims } = await startWorld()
    expect(await claims({ url })).toMatchObject({ htu })
  })

  it('when a thousand proofs are made at once, then no two have the same id', async () => {
    const { claims } = await startWorld()
    const ids = await Promise.all(Array.from({ length: 1_000 }, async () => (await claims()).jti))
    expect(new Set(ids).size).toBe(1_000)
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true)
  })

  it('when the method is in lower case, then so is that of the proof', async () => {
    const { claims } = await startWorld()
    expect(await claims({ method: 'patch' })).toMatchObject({ htm: 'patch' })
  })
})

describe('given nonces', () => {
  it.each([200, 304, 400, 401, 404, 500, 503])(
    'when a response of status %d has one, then later proofs have it (F258)',
    async (status) => {
      const { claims, learn } = await startWorld()
      learn({ status, nonce: 'first' })
      expect(await claims()).toMatchObject({ nonce: 'first' })
      learn({ status, nonce: 'second' })
      expect(await claims()).toMatchObject({ nonce: 'second' })
      learn({ status })
      expect(await claims()).toMatchObject({ nonce: 'second' })
    },
  )

  it('when several origins send some, then each gets its own (F258)', async () => {
    const { claims, learn } = await startWorld()
    const origins = ['https://id.example', 'https://api.example', 'https://api.example:8443']
    for (const url of origins) learn({ nonce: `of ${url}`.replace(' ', '-') }, { url: `${url}/somewhere` })
    for (const url of origins) expect(await claims({ url: `${url}/else` })).toMatchObject({ nonce: `of-${url}` })
    expect(await claims({ url: 'https://other.example/' })).not.toHaveProperty('nonce')
  })

  it.each([
    ['first, second'],
    ['with "quotes"'],
    ['back\\slash'],
    ['line\nbreak'],
    [''],
    ['x'.repeat(4_097)],
    [['a', 'b']],
    [7],
  ])('when a server sends %j, which is not a nonce, then the last one stays', async (nonce) => {
    const { claims, learn } = await startWorld()
    learn({ nonce: 'good' })
    learn({ nonce })
    expect(await claims()).toMatchObject({ nonce: 'good' })
  })

  it('when one has the maximum length, then it counts', async () => {
    const { claims, learn } = await startWorld()
    learn({ nonce: 'x'.repeat(4_096) })
    expect(await claims()).toMatchObject({ nonce: 'x'.repeat(4_096) })
  })

  it('when a thousand origins send some, then the most recent ones are remembered', async () => {
    const { claims, learn } = await startWorld()
    const url = (n: number) => `https://api-${n}.example/`
    learn({ nonce: 'kept' }, { url: url(0) })
    for (let n = 1; n < 1_000; n += 1) {
      learn({ nonce: `nonce-${n}` }, { url: url(n) })
      if (n % 50 === 0) learn({}, { url: url(0) })
    }
    expect(await claims({ url: url(0) })).toMatchObject({ nonce: 'kept' })
    expect(await claims({ url: url(901) })).toMatchObject({ nonce: 'nonce-901' })
    expect(await claims({ url: url(800) })).not.toHaveProperty('nonce')
  })

  it('when one arrives while the token is hashed, then the proof has that one', async () => {
    const { claims, learn } = await startWorld()
    const proof = claims({ token: 'another' })
    learn({ nonce: 'late' })
    expect(await proof).toMatchObject({ nonce: 'late' })
  })
})

describe('given a wrong clock of this machine', () => {
  it.each([
    ['behind', -HOUR],
    ['ahead', HOUR],
  ])('when it is an hour %s, then proofs have the time of the server (F259)', async (_, offMs) => {
    const { clock, claims, learn } = await startWorld()
    const at = NOON - offMs
    learn({ date: httpDate(at) })
    expect(await claims()).toMatchObject({ iat: at / 1_000 })
    await clock.advance(90_500)
    expect(await claims()).toMatchObject({ iat: at / 1_000 + 90 })
  })

  it('when another origin has sent a time that is years off, then proofs for this one have the time of this machine (F294)', async () => {
    const { claims, learn } = await startWorld()
    learn({ date: httpDate(NOON + 87_600 * HOUR) }, { url: 'https://id.example/token' })
    expect(await claims()).toMatchObject({ iat: NOON / 1_000 })
    learn({ date: httpDate(NOON - 2 * HOUR) })
    expect(await claims()).toMatchObject({ iat: (NOON - 2 * HOUR) / 1_000 })
  })

  it('when it is corrected, then proofs have its time', async () => {
    const { clock, claims, learn } = await startWorld()
    learn({ date: httpDate(NOON - HOUR) })
    clock.stepWall(-HOUR)
    expect(await claims()).toMatchObject({ iat: (NOON - HOUR) / 1_000 })
  })

  it('when the machine has slept, then proofs have the time after the sleep', async () => {
    const { clock, claims, learn } = await startWorld()
    learn({ date: httpDate(NOON) })
    clock.stepWall(HOUR)
    expect(await claims()).toMatchObject({ iat: (NOON + HOUR) / 1_000 })
  })

  it.each([
    ['has an Age', { date: httpDate(NOON - HOUR), age: '3600' }, {}],
    ['has an Age of one second', { date: httpDate(NOON - HOUR), age: '1' }, {}],
    ['may come from the cache of a browser', { date: httpDate(NOON - HOUR) }, { method: 'GET' }],
    ['to a HEAD may come from there', { date: httpDate(NOON - HOUR) }, { method: 'HEAD' }],
    ['has an invalid Date', { date: 'yesterday' }, {}],
    ['has a day that does not exist', { date: 'Mon, 99 Nov 2026 12:00:00 GMT' }, {}],
    ['has two of them', { date: [httpDate(NOON - HOUR)] }, {}],
  ])('when a response %s, then its time does not count', async (_, answer, request) => {
    const { claims, learn } = await startWorld()
    learn(answer, request)
    expect(await claims()).toMatchObject({ iat: NOON / 1_000 })
  })

  it('when a GET is rejected, then its time counts: caches do not store such a response', async () => {
    const { claims, learn } = await startWorld()
    learn({ status: 401, date: httpDate(NOON - HOUR) }, { method: 'GET' })
    expect(await claims()).toMatchObject({ iat: (NOON - HOUR) / 1_000 })
  })

  it('when a GET has a later time, then that counts: caches have no future time', async () => {
    const { claims, learn } = await startWorld()
    learn({ date: httpDate(NOON + HOUR) }, { method: 'GET' })
    learn({ date: httpDate(NOON) }, { method: 'GET' })
    expect(await claims()).toMatchObject({ iat: (NOON + HOUR) / 1_000 })
  })

  it('when two managers have clocks of their own, then neither uses the time of the other', async () => {
    const { proofs, claims, learn } = await startWorld()
    learn({ date: httpDate(NOON - HOUR) })
    const other: Clock = manualClock({ wallNow: NOON + HOUR })
    const proof = await proofs.prove({ method: 'POST', url: new URL('https://api.example') }, other)
    expect(verified(proof.text).claims).toMatchObject({ iat: (NOON + HOUR) / 1_000 })
    expect(await claims()).toMatchObject({ iat: (NOON - HOUR) / 1_000 })
  })
})

describe('given a proof that was rejected', () => {
  const request = { method: 'POST', url: new URL('https://api.example/') }
  it.each([
    ['a nonce', { nonce: 'new' }, true],
    ['another time', { date: httpDate(NOON - HOUR) }, true],
    ['the same time', { date: httpDate(NOON - 4_000) }, false],
    ['nothing', {}, false],
  ])(
    'when the response has %s, then it is known whether a new proof may be accepted',
    async (_, answer, isOutdated) => {
      const { clock, proofs, learn } = await startWorld()
      const proof = await proofs.prove(request, clock)
      learn({ status: 401, ...answer })
      await clock.advance(60_000)
      expect(proofs.isOutdated(proof, request, clock)).toBe(isOutdated)
      const next = await proofs.prove(request, clock)
      expect(proofs.isOutdated(next, request, clock)).toBe(false)
    },
  )
})

describe('given a proof with the time of an earlier response, which was wrong (F294)', () => {
  const request = { method: 'POST', url: new URL('https://api.example/') }
  const refusedProof = async (answer: Partial<ProofResponse>) => {
    const { clock, proofs, learn } = await startWorld()
    learn({ date: httpDate(NOON + 87_600 * HOUR) })
    const proof = await proofs.prove(request, clock)
    learn({ status: 401, ...answer })
    const isOutdated = proofs.isOutdated(proof, request, clock)
    const next = await proofs.prove(request, clock)
    learn({ status: 401, ...answer })
    return { isOutdated, iat: verified(next.text).claims.iat, isOutdatedAgain: proofs.isOutdated(next, request, clock) }
  }

  it('when it is rejected without a Date, then the time of this machine is tried, once', async () => {
    const told = await refusedProof({ isRejected: true })
    expect(told).toEqual({ isOutdated: true, iat: NOON / 1_000, isOutdatedAgain: false })
  })

  it('when only the token is rejected, then that reveals nothing about the time', async () => {
    const told = await refusedProof({})
    expect(told).toMatchObject({ isOutdated: false, iat: NOON / 1_000 + 87_600 * 3_600 })
  })
})

describe('given a key that signs slowly', () => {
  it('when it signs a second proof at the same time, then each has its own address', async () => {
    const key = await externalKey()
    const gates: (() => void)[] = []
    const sign = async (data: Uint8Array) => {
      await new Promise<void>((resolve) => gates.push(resolve))
      return key.sign(data)
    }
    const proofs = proofsOf('dpop', dpopKey({ publicJwk: key.publicJwk, sign }))
    const urls = ['https://api.example/a', 'https://api.example/b']
    const made = urls.map((url) => proofs.prove({ method: 'GET', url: new URL(url) }, manualClock()))
    while (gates.length < 2) await new Promise((resolve) => setImmediate(resolve))
    for (const open of gates.reverse()) open()
    expect((await Promise.all(made)).map(({ text }) => verified(text).claims.htu)).toEqual(urls)
  })
})

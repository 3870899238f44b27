import { expect, it } from '@jest/globals'
import { listen, manage, ScriptedSource } from '../support/managed.ts'
import { startWorld } from '../support/service.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { dice } from '../../scripts/lib/dice.mjs'

/** Real sockets take real time. The limit is for what never arrives. */
async function until(done: () => boolean): Promise<void> {
  const limit = performance.now() + 120_000
  while (!done()) {
    if (performance.now() > limit) throw new Error('It did not come to pass')
    await settle()
  }
}

const presented = (log: readonly { kind: string; status: number }[]) =>
  log.filter(({ kind }) => kind !== 'resource').map(({ kind, status }) => `${kind} ${status}`)

async function startB(clock = manualClock({ wallNow: Date.now() }), service = {}) {
  const world = await startWorld({ variant: 'B', service, manager: { clock, renewal: { keepWarm: 'never' } } })
  await world.api.get('/wallet')
  await clock.advance(45_000)
  return { ...world, clock, observed: listen(world.tokens) }
}

it('refresh returns 503, 503, 200, by a real service', async () => {
  const { service, api, clock, observed, end } = await startB()
  service.failNext('refresh', { status: 503 }, 2)
  for (let n = 0; observed.renewed.length === 0 && n < 100; n += 1) {
    expect((await api.get('/wallet')).status).toBe(200)
    await clock.advance(50)
  }
  expect(presented(service.log)).toEqual(['obtain 200', 'refresh 503', 'refresh 503', 'refresh 200'])
  expect(observed.suspicious).toEqual([])
  await end()
})

it('answer lost after the service rotated', async () => {
  const { service, api, observed, end } = await startB()
  service.failNext('refresh', { drop: 'after' })
  expect((await api.get('/wallet')).status).toBe(200)
  await until(() => observed.renewed.length > 0)
  expect((await api.get('/wallet')).status).toBe(200)
  expect(presented(service.log)).toEqual(['obtain 200', 'refresh 0', 'obtain 200'])
  expect(observed.suspicious).toEqual([])
  await end()
})

it('someone else used the refresh token', async () => {
  const { service, api, tokens, observed, end } = await startB()
  await service.stealRefreshToken()
  for (let n = 0; n < 20; n += 1) expect((await api.get('/wallet')).status).toBe(200)
  await until(() => observed.suspicionSettled.length > 0)
  expect(observed.suspicious).toMatchObject([{ evidence: 'unexplained', severity: 'high', serviceCode: '2007' }])
  expect(observed.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
  expect(presented(service.log)).toEqual(['obtain 200', 'refresh 401', 'obtain 200'])
  expect(tokens.status().counts.suspicions).toBe(1)
  await end()
})

it("rejected after its end by the service's clock, our clock an hour slow", async () => {
  const slow = manualClock({ wallNow: Date.now() - 3_600_000 })
  const { service, api, observed, end } = await startB(slow, { refreshLifetimeMs: 1_000 })
  expect((await api.get('/wallet')).status).toBe(200)
  await until(() => observed.renewed.length > 0)
  expect(presented(service.log)).toEqual(['obtain 200', 'obtain 200'])
  expect(observed.suspicious).toEqual([])
  await end()
})

it.each([
  [1, 200, 'obtain 200 obtain 200'],
  [2, 'ERR_SIGNATURE', 'obtain 200 obtain 200'],
])(
  'when %i responses in a row have a wrong signature, then the call ends in %s, and no such token is used',
  async (times, end, calls) => {
    const clock = manualClock({ wallNow: Date.now() })
    const { service, api, tokens, end: close } = await startWorld({ variant: 'B', manager: { clock } })
    service.failNext('obtain', { corrupt: 'signature' }, times)
    const observed = listen(tokens)
    const request = api.get('/wallet').then(
      ({ status }) => status,
      (error: unknown) => (error as { code: string }).code,
    )
    await until(() => observed.retry.length > 0)
    expect(service.count('resource')).toBe(0)
    await clock.advance(500)
    expect(await request).toBe(end)
    expect(presented(service.log).join(' ')).toBe(calls)
    expect(service.count('resource')).toBe(end === 200 ? 1 : 0)
    await close()
  },
)

it('five minutes of traffic, tokens of 60 s, token requests of 2 s', async () => {
  const { clock, source, tokens, observed } = manage(new ScriptedSource({ pairs: true, takesMs: 2_000 }), {
    random: dice(1).random,
  })
  const ends = new Map<string, number>()
  tokens.on('renewed', ({ accessExpiresAt }) => ends.set(tokens.peekAccessToken() ?? '', accessExpiresAt))
  const first = tokens.getAccessToken()
  await clock.advance(2_000)
  await first
  for (let call = 0; call < 3_000; call += 1) {
    const token = tokens.peekAccessToken() // undefined would be a delayed call
    expect(ends.get(token ?? '')).toBeGreaterThan(clock.wallNow())
    await clock.advance(100)
  }
  expect(source.calls.length).toBeLessThanOrEqual(8)
  expect(observed.renewed.length).toBeGreaterThanOrEqual(source.calls.length - 1) // the last renewal may be in flight
})

it('wall clock +1 h, −2 h, an hour asleep', async () => {
  const { clock, source, tokens } = manage()
  const HOUR = 3_600_000
  let slept = 0
  const truth = () => clock.monotonicNow() + slept
  const ends = new Map<string, number>()
  source.script.push(
    ...Array.from({ length: 99 }, () => () => {
      const grant = source.grant()
      ends.set(grant.accessToken, truth() + 60_000)
      return grant
    }),
  )
  const traffic = async (seconds: number) => {
    for (let n = 0; n < seconds; n += 1) {
      expect(ends.get(await tokens.getAccessToken())).toBeGreaterThan(truth())
      await clock.advance(1_000)
    }
    return source.calls.length
  }
  // If no clock jumps, 30 s of traffic cost at most one call. A jump may cost one more.
  const calls = [await traffic(30)]
  clock.stepWall(HOUR)
  calls.push(await traffic(30))
  clock.stepWall(-2 * HOUR)
  calls.push(await traffic(30))
  clock.stepWall(HOUR)
  slept += HOUR
  calls.push(await traffic(30))
  const cost = calls.map((count, n) => count - (calls[n - 1] ?? 0))
  for (const each of cost) expect(each).toBeLessThanOrEqual(2)
  expect(cost[0]).toBe(1)
})

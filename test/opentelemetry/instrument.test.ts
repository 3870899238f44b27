import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { attachBearer, createTokenManager, loginPassword, type TokenManager } from '../../src/index.ts'
import { instrument } from '../../src/opentelemetry/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import axios from 'axios'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'
import { Contexts, startTelemetry } from './world.ts'
import { type AnyListener } from '../../src/core/events.ts'

let telemetry: Awaited<ReturnType<typeof startTelemetry>>
beforeEach(async () => {
  telemetry = await startTelemetry()
})
afterEach(() => telemetry.end())

describe('given a manager that is instrumented', () => {
  it('when it runs, then Prometheus reads calls, renewals, waits, failures, phase and remaining lifetime', async () => {
    const source = new ScriptedSource({ pairs: true, takesMs: 200 })
    const { clock, tokens } = manage(source, { renewal: { keepWarm: 'never' } })
    instrument(tokens, { meter: telemetry.meter, attributes: { 'evergreen.account': 'bakery' } })
    const callers = [tokens.getAccessToken(), tokens.getAccessToken()]
    await clock.advance(200)
    await Promise.all(callers)
    source.script.push(failing(401), failing(403))
    const renewal = outcome(tokens.renew())
    await clock.advance(10_000)
    await renewal
    await settle()
    const read = await telemetry.scrape()
    expect(read).toMatchObject({
      'evergreen_token_calls_total{evergreen_account="bakery",evergreen_exchange="obtain",evergreen_outcome="accepted"}': 1,
      'evergreen_token_calls_total{evergreen_account="bakery",evergreen_exchange="refresh",evergreen_outcome="rejected",error_type="ERR_REFRESH_REJECTED"}': 1,
      'evergreen_token_calls_total{evergreen_account="bakery",evergreen_exchange="obtain",evergreen_outcome="rejected",error_type="ERR_CREDENTIALS_REJECTED"}': 1,
      'evergreen_renewal_duration_sum{evergreen_account="bakery",evergreen_renewal_by="obtain",evergreen_renewal_cause="cold"}': 0.2,
      'evergreen_renewal_failures_total{evergreen_account="bakery",error_type="ERR_CREDENTIALS_REJECTED"}': 1,
      'evergreen_wait_duration_count{evergreen_account="bakery"}': 2,
      'evergreen_wait_duration_bucket{evergreen_account="bakery",le="0.1"}': 0,
      'evergreen_wait_duration_bucket{evergreen_account="bakery",le="0.25"}': 2,
      'evergreen_wait_duration_count{evergreen_account="bakery",error_type="ERR_CREDENTIALS_REJECTED"}': 1,
      'evergreen_suspicions_total{evergreen_account="bakery",evergreen_suspicion_severity="high",evergreen_suspicion_evidence="unexplained"}': 1,
      'evergreen_suspicions_settled_total{evergreen_account="bakery",evergreen_suspicion_severity="high",evergreen_suspicion_evidence="unexplained",evergreen_suspicion_verdict="account-rejected"}': 1,
      'evergreen_token_remaining{evergreen_account="bakery"}': 60 - 0.2 - 10,
      'evergreen_manager_phase{evergreen_account="bakery",evergreen_phase="fresh"}': 1,
      'evergreen_manager_phase{evergreen_account="bakery",evergreen_phase="stopped"}': 0,
    })
    expect(JSON.stringify(read)).not.toMatch(/access-|refresh-\d/)
  })

  it('when it has no token, or no longer has one, then the remaining lifetime is 0', async () => {
    const { tokens } = manage()
    instrument(tokens, { meter: telemetry.meter })
    const empty = { 'evergreen_manager_phase{evergreen_phase="empty"}': 1, evergreen_token_remaining: 0 }
    expect(await telemetry.scrape()).toMatchObject(empty)
    await tokens.getAccessToken()
    expect(await telemetry.scrape()).toMatchObject({ evergreen_token_remaining: 60 })
    await tokens.reset()
    expect(await telemetry.scrape()).toMatchObject(empty)
  })

  it('when its token is fresh, then a request is not counted as a wait', async () => {
    const { tokens } = manage()
    await tokens.getAccessToken()
    instrument(tokens, { meter: telemetry.meter, tracer: telemetry.tracer })
    await tokens.getAccessToken()
    expect(Object.keys(await telemetry.scrape()).join()).not.toContain('evergreen_wait')
  })

  it('when a caller aborts, then its wait is reported as aborted', async () => {
    const source = new ScriptedSource({ takesMs: 1_000 })
    const { clock, tokens } = manage(source)
    instrument(tokens, { meter: telemetry.meter })
    const controller = new AbortController()
    const caller = tokens.getAccessToken({ signal: controller.signal })
    await clock.advance(100)
    controller.abort()
    await expect(caller).rejects.toThrow()
    expect(await telemetry.scrape()).toMatchObject({
      'evergreen_wait_duration_sum{error_type="aborted"}': 0.1,
    })
    await clock.advance(1_000)
  })

  it('when requests fail at once in a cool-down, then each of them is counted, and so is the waiting one (F250)', async () => {
    const source = new ScriptedSource()
    source.script.push(failing(400))
    const { clock, tokens } = manage(source)
    instrument(tokens, { meter: telemetry.meter })
    const api = axios.create({ baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    await outcome(tokens.getAccessToken())
    for (let n = 0; n < 5; n += 1) await outcome(tokens.getAccessToken())
    await outcome(api.get('/wallet'))
    const count = 'evergreen_requests_failed_total{error_type="ERR_CREDENTIALS_REJECTED"}'
    expect(await telemetry.scrape()).toMatchObject({ [count]: 7 })
    await clock.advance(120_000)
    await tokens.close()
    await outcome(tokens.getAccessToken())
    expect(await telemetry.scrape()).toMatchObject({
      [count]: 7,
      'evergreen_requests_failed_total{error_type="ERR_CLOSED"}': 1,
    })
  })

  it('when renewals fail while the token is valid, or a caller aborts, then no request has failed (F250)', async () => {
    const source = new ScriptedSource()
    const { clock, tokens } = manage(source)
    instrument(tokens, { meter: telemetry.meter })
    await tokens.getAccessToken()
    source.script.push(...Array.from({ length: 20 }, () => failing(503)))
    for (let n = 0; n < 2; n += 1) {
      const renewal = outcome(tokens.renew())
      await clock.advance(10_000)
      await renewal
    }
    expect(await tokens.getAccessToken()).toBe('access-1')
    await tokens.reset()
    const controller = new AbortController()
    const caller = outcome(tokens.getAccessToken({ signal: controller.signal }))
    controller.abort()
    await caller
    const read = Object.keys(await telemetry.scrape()).join()
    expect([read.includes('evergreen_renewal_failures'), read.includes('evergreen_requests_failed')]).toEqual([
      true,
      false,
    ])
    await tokens.close()
  })

  it('when there is an anomaly, then it is counted', async () => {
    const { clock, tokens } = manage()
    instrument(tokens, { meter: telemetry.meter })
    await tokens.getAccessToken()
    clock.stepWall(10_000)
    await tokens.getAccessToken()
    await settle()
    expect(await telemetry.scrape()).toMatchObject({
      'evergreen_anomalies_total{evergreen_anomaly_kind="clock-jumped"}': 1,
    })
  })

  it('when the instrument is ended, then nothing more is reported, and another one may start', async () => {
    const { tokens } = manage()
    const stop = instrument(tokens, { meter: telemetry.meter, tracer: telemetry.tracer })
    expect(() => instrument(tokens, { tracer: telemetry.tracer })).toThrow('already instrumented')
    stop()
    await tokens.getAccessToken()
    await settle()
    expect([await telemetry.scrape(), telemetry.spans.length]).toEqual([{}, 0])
    stop()
    const again = instrument(tokens, { tracer: telemetry.tracer })
    stop()
    await tokens.renew()
    expect(telemetry.spans).toHaveLength(1)
    again()
  })

  it('when the manager is closed, then its gauges say so', async () => {
    const { tokens } = manage()
    instrument(tokens, { meter: telemetry.meter })
    await tokens.getAccessToken()
    expect(await telemetry.scrape()).toMatchObject({ evergreen_token_remaining: 60 })
    await tokens.close()
    expect(await telemetry.scrape()).toMatchObject({
      'evergreen_manager_phase{evergreen_phase="fresh"}': 0,
      'evergreen_manager_phase{evergreen_phase="closed"}': 1,
      evergreen_token_remaining: 0,
    })
  })

  it('when the instrument is ended, then its gauges are 0 from the next reading on, and the manager is not read', async () => {
    const { clock, tokens } = manage()
    const status = jest.spyOn(tokens, 'status')
    const gone = () => instrument(tokens, { meter: telemetry.meter, attributes: { 'evergreen.account': 'gone' } })
    const stop = gone()
    const { tokens: another } = manage(undefined, {}, clock)
    instrument(another, { meter: telemetry.meter, attributes: { 'evergreen.account': 'here' } })
    await Promise.all([tokens.getAccessToken(), another.getAccessToken()])
    const gauges = ['gone', 'here'].flatMap((account) => [
      `evergreen_token_remaining{evergreen_account="${account}"}`,
      `evergreen_manager_phase{evergreen_account="${account}",evergreen_phase="fresh"}`,
    ])
    const read = async () => {
      await clock.advance(1_000)
      const samples = await telemetry.scrape()
      return gauges.map((gauge) => samples[gauge])
    }
    expect(await read()).toEqual([59, 1, 59, 1])
    stop()
    status.mockClear()
    expect(await read()).toEqual([0, 0, 58, 1])
    expect(await read()).toEqual([0, 0, 57, 1])
    expect(status).not.toHaveBeenCalled()
    const again = gone()
    expect(await read()).toEqual([56, 1, 56, 1])
    again()
    gone()
    expect(await read()).toEqual([55, 1, 55, 1])
  })

  it('when the meter and the tracer throw, then callers still get their tokens', async () => {
    const broken = () => {
      throw new Error('telemetry')
    }
    const { source, tokens } = manage()
    const meter = { createHistogram: () => ({ record: broken }), createCounter: () => ({ add: broken }) }
    const gauge = { createObservableGauge: () => ({ addCallback: () => undefined }) }
    instrument(tokens, { meter: { ...meter, ...gauge } as never, tracer: { startSpan: broken } as never })
    expect(await tokens.getAccessToken()).toBe('access-1')
    source.script.push(failing(404))
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_TOKEN_REQUEST' })
  })

  it.each([
    [{}, 'instrument needs a meter, a tracer, or both'],
    [{ meter: {} }, 'meter.createHistogram must be a function'],
    [{ tracer: null }, 'tracer.startSpan must be a function'],
    [{ meters: {} }, "there is no 'meters'"],
  ])('when %j is given, then it is rejected', (options, message) => {
    expect(() => instrument(manage().tokens, options as never)).toThrow(message)
  })

  it('when no manager is given, then that is rejected', () => {
    expect(() => instrument({} as TokenManager, { meter: telemetry.meter })).toThrow('tokens.onAny must be a function')
  })
})

describe('given an active span', () => {
  beforeAll(() => void context.setGlobalContextManager(new Contexts()))
  afterAll(() => context.disable())

  /** Runs a request in a separate trace, as an instrumented server does. */
  const request = <Result>(name: string, act: () => Promise<Result>) =>
    telemetry.tracer.startActiveSpan(name, { root: true }, async (span) => {
      try {
        return await act()
      } finally {
        span.end()
      }
    })
  const byName = (name: string) => telemetry.spans.find((span) => span.name === name)!

  it('when requests wait, then the span of the token request is linked to each, including later ones', async () => {
    const { source, tokens } = manage()
    const { answer, open } = held(() => source.grant())
    source.script.push(answer)
    instrument(tokens, { tracer: telemetry.tracer })
    const first = request('first', () => tokens.getAccessToken())
    await settle()
    const second = request('second', () => tokens.getAccessToken())
    open()
    await Promise.all([first, second])
    const call = byName('token obtain')
    const ids = (name: string) => byName(name).spanContext().spanId
    expect(call.links.map((link) => link.context.spanId)).toEqual([ids('first'), ids('second')])
    expect([call.parentSpanContext, call.attributes]).toEqual([
      undefined,
      { 'evergreen.exchange': 'obtain', 'evergreen.attempt': 1, 'evergreen.outcome': 'accepted' },
    ])
  })

  it('when the call creates its own spans, then they are children of its span', async () => {
    const { source, tokens } = manage()
    source.script.push(() => {
      telemetry.tracer.startSpan('http').end()
      return source.grant()
    })
    instrument(tokens, { tracer: telemetry.tracer })
    await request('outer', () => tokens.getAccessToken())
    expect(byName('http').parentSpanContext?.spanId).toBe(byName('token obtain').spanContext().spanId)
  })

  it('when a call fails, then its span says why, without a secret', async () => {
    const service = await startTokenService()
    try {
      const tokens = createTokenManager({ source: loginPassword({ baseUrl: service.baseUrl, ...service.login }) })
      const stop = instrument(tokens, { tracer: telemetry.tracer, meter: telemetry.meter })
      const api = axios.create({ baseURL: service.baseUrl })
      attachBearer(api, tokens)
      service.failNext('obtain', { status: 403 })
      await request('refused', () => api.get('/wallet').catch(() => undefined))
      await tokens.reset()
      await request('served', () => api.get('/wallet'))
      const [refused, served] = telemetry.spans.filter(({ name }) => name === 'token obtain')
      expect(refused).toMatchObject({
        status: { code: SpanStatusCode.ERROR, message: expect.stringContaining('responded with 403') },
        attributes: {
          'error.type': 'ERR_CREDENTIALS_REJECTED',
          'http.response.status_code': 403,
          'server.address': '127.0.0.1',
          'server.port': Number(new URL(service.baseUrl).port),
        },
      })
      expect(served?.links.map((link) => link.context.spanId)).toEqual([byName('served').spanContext().spanId])
      const told: string = JSON.stringify([
        telemetry.spans.map(({ attributes, status }) => [attributes, status]),
        await telemetry.scrape(),
      ])
      for (const secret of [service.login.login, service.login.password, tokens.peekAccessToken()])
        expect(told).not.toContain(secret)
      stop()
      await tokens.close()
    } finally {
      await service.close()
    }
  })

  it('when many wait, then the links are bounded, and none is retained', async () => {
    const { tokens } = manage()
    instrument(tokens, { tracer: telemetry.tracer })
    await Promise.all(Array.from({ length: 50 }, (_, n) => request(`request ${n}`, () => tokens.getAccessToken())))
    expect(byName('token obtain').links).toHaveLength(32)
    await tokens.renew()
    expect(telemetry.spans.at(-1)).toMatchObject({ name: 'token obtain', links: [] })
  })
})

describe('given a hand-made manager', () => {
  it('when it is instrumented, then its events and its status are reported', async () => {
    const { tokens } = manage()
    instrument(
      { onAny: (listener) => tokens.onAny(listener), status: () => tokens.status() },
      { meter: telemetry.meter },
    )
    await tokens.getAccessToken()
    await settle()
    const read = await telemetry.scrape()
    expect(read).toMatchObject({ 'evergreen_manager_phase{evergreen_phase="fresh"}': 1 })
    expect(Object.keys(read).join()).toContain('evergreen_renewal_duration_count')
    expect(trace.getActiveSpan()).toBeUndefined()
  })

  it('when it reports that logins have ended, then those that ended here are counted, by reason', async () => {
    let tell: AnyListener = () => undefined
    const { tokens } = manage()
    const onAny: TokenManager['onAny'] = (listener) => ((tell = listener as AnyListener), () => undefined)
    instrument({ onAny, status: () => tokens.status() }, { meter: telemetry.meter })
    tell('loginChanged', { login: 'present', by: 'here', account: 'unknown' })
    tell('loginChanged', { login: 'required', by: 'here', account: 'same', reason: 'refused' })
    tell('loginChanged', { login: 'required', by: 'elsewhere', account: 'same', reason: 'refused' })
    const read = Object.entries(await telemetry.scrape()).filter(([name]) => name.includes('logins'))
    expect(read).toEqual([['evergreen_logins_required_total{evergreen_login_reason="refused"}', 1]])
  })

  it('when it reports store failures, then they are counted', async () => {
    let tell: Parameters<TokenManager['onAny']>[0] = () => undefined
    const { tokens } = manage()
    const onAny: TokenManager['onAny'] = (listener) => ((tell = listener), () => undefined)
    instrument({ onAny, status: () => tokens.status() }, { meter: telemetry.meter })
    tell('storeUnavailable', { message: 'no answer' })
    tell('storeUnavailable', { message: 'no answer' })
    expect(await telemetry.scrape()).toMatchObject({ evergreen_store_errors_total: 2 })
  })
})

/** What the endpoint and the document have beyond an obtain of Variant A: the shapes of a refresh (section 4.3). */
import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import { TokenDocument, VARIANT_B } from '../../src/service/token-document.ts'
import { TokenEndpoint } from '../../src/service/token-endpoint.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failureOf, thrownBy, response } from './world.ts'

const context = () => ({ signal: new AbortController().signal, clock: manualClock() })

describe('given an endpoint and a refresh', () => {
  const refreshAt = (adapter: AxiosAdapter) =>
    new TokenEndpoint({ baseUrl: 'https://tokens.example/api', transport: { adapter } }, VARIANT_B)

  it('when it is sent, then it uses the path of a refresh, and returns text, date and status', async () => {
    const urls: unknown[] = []
    const endpoint = refreshAt(async (config) => {
      urls.push(config.url)
      return response(config, 'text', 200, { Date: 'Thu, 01 Jan 2026 11:00:00 GMT' })
    })
    expect(await endpoint.post('refresh', { refresh: 'r' }, context())).toMatchObject({
      text: 'text',
      date: 'Thu, 01 Jan 2026 11:00:00 GMT',
      address: 'https://tokens.example/api/token/refresh/',
    })
    expect(urls).toEqual(['https://tokens.example/api/token/refresh/'])
  })

  it.each([400, 401, 403])('when the response is %i, then the refresh token was rejected', async (status) => {
    const endpoint = refreshAt(async (config) => response(config, '{"code":"2007"}', status))
    expect(await failureOf(endpoint.post('refresh', { refresh: 'r' }, context()))).toMatchObject({
      code: 'ERR_REFRESH_REJECTED',
      outcome: 'rejected',
      serviceCode: '2007',
      status,
      retryable: true,
    })
  })

  it.each([
    [404, 'ERR_TOKEN_REQUEST', 'rejected'],
    [429, 'ERR_THROTTLED', 'deferred'],
    [503, 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx'],
  ])('when the response is %i, then the error is the same as for an obtain', async (status, code, outcome) => {
    const endpoint = refreshAt(async (config) => response(config, '', status))
    const error = await failureOf(endpoint.post('refresh', { refresh: 'r' }, context()))
    expect(error).toMatchObject({ code, outcome, status })
  })
})

describe('given a response that may lack the data wrapper', () => {
  const read = (text: string) =>
    new TokenDocument({ text, date: undefined, address: 'https://tokens.example', status: 200 }, 'wrapped-or-bare')
  const bare = '{"type":"auth-token","id":"7","attributes":{"access":"bare"}}'
  const wrapped = '{"data":{"type":"auth-token","id":"7","attributes":{"access":"wrapped"}}}'

  it.each([
    ['bare (F65)', bare, 'bare'],
    ['wrapped (F66)', wrapped, 'wrapped'],
    ['both at once, of which data wins (F66)', bare.replace('{', `${wrapped.slice(0, -1)},`), 'wrapped'],
  ])('when it is %s, then it is read (F65, F66)', (_, text, access) => {
    expect(read(text).text('access')).toBe(access)
    expect(read(text).hasId).toBe(true)
  })

  it('when data exists but is unusable, then the bare members do not replace it (F66)', () => {
    expect(thrownBy(() => read(bare.replace('{', '{"data":null,')))).toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
  })

  it.each([
    ['an object', '{"time":"now","sign":"s"}', ['now', 's']],
    ['an object without them', '{}', [undefined, undefined]],
    ['null', 'null', [undefined, undefined]],
    ['text', '"time"', [undefined, undefined]],
    ['an array', '[]', [undefined, undefined]],
    ['an object whose prototype has them', '{"__proto__":{"time":"now","sign":"s"}}', [undefined, undefined]],
  ])('when its meta is %s, then own members are read', (_, meta, expected) => {
    const document = read(bare.replace('{', `{"meta":${meta},`))
    expect([document.meta('time'), document.meta('sign')]).toEqual(expected)
  })

  it('when it has no meta, then there is none', () => {
    expect(read(bare).meta('time')).toBeUndefined()
  })
})

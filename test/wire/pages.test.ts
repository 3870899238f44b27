import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { clientCredentials, loginPassword, toTokenError, type TokenSource } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { client, failureOf, serve } from '../service/world.ts'

type Answer = readonly [
  status: number,
  type: string | undefined,
  body: string,
  challenge?: string | undefined,
  retryAfter?: string,
]

async function sourcesAt([status, type, body, challenge, retryAfter]: Answer): Promise<Record<string, TokenSource>> {
  const headers = {
    ...(type !== undefined && { 'Content-Type': type }),
    ...(challenge && { 'WWW-Authenticate': challenge }),
    ...(retryAfter && { 'Retry-After': retryAfter }),
  }
  const { origin } = await serve((_, reply) => reply.writeHead(status, headers).end(body))
  const call = async (url: string): Promise<never> => (await axios.post(url, 'x')).data as never
  const fetched = async (url: string): Promise<never> => {
    const response = await fetch(url, { method: 'POST' })
    if (!response.ok) throw toTokenError(response, 'refresh')
    return (await response.json()) as never
  }
  return {
    clientCredentials: clientCredentials({ baseUrl: origin, ...client }),
    loginPassword: loginPassword({ baseUrl: origin, login: 'somebody', password: 'of-nobody' }),
    oauth2: oauth2({ tokenEndpoint: `${origin}/token`, ...client }),
    'oauth2 of a login': oauth2({ tokenEndpoint: `${origin}/token`, clientId: 'app', grant: 'login' }),
    'an own source on axios': { id: 'own', obtain: () => call(origin), refresh: () => call(origin) },
    'an own source on fetch': { id: 'own', obtain: () => fetched(origin), refresh: () => fetched(origin) },
  }
}

const context = () => ({ signal: new AbortController().signal, clock: manualClock() })

/** What each source makes of the response: to an obtain, and to a refresh. */
async function verdicts(answer: Answer) {
  const reported: Record<string, string> = {}
  for (const [name, source] of Object.entries(await sourcesAt(answer)))
    for (const exchange of ['obtain', 'refresh'] as const) {
      if (exchange === 'obtain' ? name.endsWith('login') : !source.refresh) continue
      const pending = exchange === 'obtain' ? source.obtain(context()) : source.refresh!('refresh-1', context())
      const thrown: unknown = await pending.catch((error: unknown) => error)
      const error = toTokenError(thrown, exchange)
      expect(error.message).not.toContain('Blocked')
      reported[`${exchange} by ${name}`] = [error.code, exchange === 'refresh' && error.refreshToken]
        .filter(Boolean)
        .join(' ')
    }
  return reported
}

const page = '<!doctype html><p>Blocked'
const xml = '<?xml version="1.0"?><Error>Blocked</Error>'

describe('given a gateway in front of the service that responds to token requests (F372)', () => {
  it.each<[string, Answer]>([
    ['400 with a page', [400, 'text/html', page]],
    ['401 with a page', [401, 'text/html; charset=utf-8', page]],
    ['403 with a page', [403, 'text/html', page]],
    ['403 with a page, without a Content-Type', [403, undefined, `\n ${page}`]],
    ['400 with XML', [400, 'application/xml', xml]],
    ['403 with text of the type HTML', [403, 'text/html', 'Blocked by policy']],
    ['403 with a page of 70 KiB', [403, 'text/html', page + 'x'.repeat(70_000)]],
  ])(
    'when it is %s, then neither credentials nor a refresh token are rejected, whatever the source',
    async (_, answer) => {
      const reported = await verdicts(answer)
      // A source that has read no Content-Type, and no body, knows only the status.
      const judges = Object.entries(reported).filter(([name]) => answer[1] !== undefined || !name.endsWith('fetch'))
      for (const [name, verdict] of judges)
        expect([name, verdict]).toEqual([name, `ERR_TOKEN_REQUEST${name.startsWith('refresh') ? ' kept' : ''}`])
      expect(judges.length).toBeGreaterThanOrEqual(8)
    },
  )

  it.each<[string, Answer]>([
    ['a challenge', [401, 'text/html', page, 'Basic realm="tokens"']],
    ['JSON of the type HTML', [401, 'text/html', '{"detail":"no"}']],
    ['nothing', [401, 'text/html', '']],
    ['JSON', [401, 'application/json', '{"detail":"no"}']],
  ])('when a 401 has %s, then the service has rejected the credentials', async (_, answer) => {
    const reported = await verdicts(answer)
    expect(reported['obtain by clientCredentials']).toBe('ERR_CREDENTIALS_REJECTED')
    expect(reported['obtain by loginPassword']).toBe('ERR_CREDENTIALS_REJECTED')
    expect(reported['obtain by oauth2']).toBe('ERR_CREDENTIALS_REJECTED')
    expect(reported['obtain by an own source on axios']).toBe('ERR_CREDENTIALS_REJECTED')
    expect(reported['refresh by loginPassword']).toBe('ERR_REFRESH_REJECTED refused')
  })

  it.each<[number, string]>([
    [404, 'ERR_TOKEN_REQUEST'],
    [407, 'ERR_TOKEN_REQUEST'],
    [425, 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    [408, 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    [429, 'ERR_THROTTLED'],
    [503, 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
  ])('when a page has the status %i, then the status counts, as before (F372)', async (status, code) => {
    const reported = Object.entries(await verdicts([status, 'text/html', page]))
    // fetch rejects after a 407, as if there were no network.
    for (const [name, verdict] of reported.filter(([name]) => status !== 407 || !name.endsWith('fetch')))
      expect([name, verdict.split(' ')[0]]).toEqual([name, code])
  })

  it('when it is reported, then the error states what has responded, and the remedy', async () => {
    const { clientCredentials: source } = await sourcesAt([403, 'text/html', page])
    const { message } = await failureOf(source!.obtain(context()))
    expect(message).toMatch(
      /^http:.*\/token\/ responded with 403: a web page from something in front of the service, such as a firewall: allow the requests of this machine$/,
    )
  })

  it('F432: when a 429 is a page, then the error names who throttles, and keeps Retry-After, whatever the source', async () => {
    const sources = await sourcesAt([429, 'text/html', page, undefined, '7'])
    for (const [name, source] of Object.entries(sources).filter(([name]) => !name.endsWith('login'))) {
      const error = toTokenError(await source.obtain(context()).catch((error: unknown) => error), 'obtain')
      expect([name, error.code, error.retryAfterMs, error.message]).toEqual([
        name,
        'ERR_THROTTLED',
        7_000,
        expect.stringMatching(/429: a web page from something in front of the service/),
      ])
    }
  })
})

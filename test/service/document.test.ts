/** The protocol page states what the sources send, accept and compute. */
import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter, InternalAxiosRequestConfig } from 'axios'
import { clientCredentials } from '../../src/service/client-credentials.ts'
import { loginPassword } from '../../src/service/login-password.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failureOf, response } from './world.ts'

const page = readFileSync('docs/token-service.md', 'utf8')
const baseUrl = 'https://payments.example.com/api'

interface Message {
  start: string
  headers: Record<string, string>
  body: string
}

/** The HTTP messages of a section, in order. */
function messagesIn(heading: string): Message[] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  return Array.from(section.matchAll(/^```http\n(.*?)^```/gms), ([, text = '']) => {
    const [head = '', body = ''] = text.split('\n\n')
    const [start = '', ...lines] = head.split('\n')
    return { start, headers: Object.fromEntries(lines.map((line) => line.split(': '))) as Message['headers'], body }
  })
}

/** A service with this response, and the requests that it received. */
function answering({ start, headers, body }: Message) {
  const seen: InternalAxiosRequestConfig[] = []
  const adapter: AxiosAdapter = async (config) => {
    seen.push(config)
    return response(config, body, Number(start.split(' ')[1]), headers)
  }
  return { seen, adapter }
}

function expectSent(config: InternalAxiosRequestConfig | undefined, shown: Message): void {
  const { origin, pathname } = new URL(config!.url!)
  expect([`POST ${pathname} HTTP/1.1`, origin]).toEqual([shown.start, `https://${shown.headers.Host!}`])
  expect(JSON.parse(config!.data as string)).toEqual(JSON.parse(shown.body))
  expect(config!.headers.toJSON()).toMatchObject({
    'Content-Type': shown.headers['Content-Type'],
    Accept: shown.headers.Accept,
  })
}

const receivedAt = Date.parse('2026-11-22T12:00:00.925Z')
const contextAt = (wallNow: number) => ({ signal: new AbortController().signal, clock: manualClock({ wallNow }) })
const credentials = { login: 'bakery', password: 'my-password' }

describe('given the messages of the protocol page', () => {
  it('when Variant A obtains, then it sends the request of the page, and reads the response', async () => {
    const [request, answer] = messagesIn('Variant A: obtain')
    const { seen, adapter } = answering(answer!)
    const source = clientCredentials({
      baseUrl,
      clientId: 'bakery',
      clientSecret: 'my-secret',
      transport: { adapter },
    })
    expect(await source.obtain(contextAt(receivedAt))).toEqual({
      accessToken: 'Aq3x-access-token',
      accessLifetimeMs: 3_599_000,
    })
    expectSent(seen[0], request!)
  })

  it('when Variant B obtains, then it sends the request of the page, verifies the response and reads it', async () => {
    const [request, answer] = messagesIn('Variant B: obtain')
    const { seen, adapter } = answering(answer!)
    const source = loginPassword({ baseUrl, ...credentials, transport: { adapter } })
    expect(await source.obtain(contextAt(receivedAt))).toEqual({
      accessToken: 'Aq3x-first-access-token',
      accessLifetimeMs: 60_000,
      refreshToken: 'Jr8s-first-refresh-token',
      refreshLifetimeMs: 6 * 3_600_000,
    })
    expectSent(seen[0], request!)
  })

  it('when Variant B refreshes, then it sends the request of the page, and reads the response', async () => {
    const [request, answer] = messagesIn('Variant B: refresh')
    const { seen, adapter } = answering(answer!)
    const source = loginPassword({ baseUrl, ...credentials, transport: { adapter } })
    const now = Date.parse('2026-11-22T12:00:45.120Z')
    expect(await source.refresh!('Jr8s-first-refresh-token', contextAt(now))).toMatchObject({
      accessToken: 'Bt9k-second-access-token',
      refreshToken: 'Kw2m-second-refresh-token',
    })
    expectSent(seen[0], request!)
  })

  it('when the service responds with the error of the page, then it is reported with its error code', async () => {
    const { adapter } = answering(messagesIn('Errors')[0]!)
    const source = loginPassword({ baseUrl, ...credentials, transport: { adapter } })
    expect(await failureOf(source.obtain(contextAt(receivedAt)))).toMatchObject({
      code: 'ERR_CREDENTIALS_REJECTED',
      status: 400,
      serviceCode: '2006',
    })
  })
})

describe('given the steps of the signature', () => {
  const section = page.split('\n## The signature\n')[1]!.split('\n## ')[0]!
  /** The result of each step: the quoted text after its colon. */
  const [key = '', message = '', sign = ''] = Array.from(
    section.matchAll(/^\d\. .*?: `([^`]+)`/gms),
    ([, stated = '']) => stated,
  )

  it('when they are performed, then each has the result of the page', () => {
    const { data, meta } = JSON.parse(messagesIn('Variant B: obtain')[1]!.body) as {
      data: { attributes: { refresh: string } }
      meta: { time: string; sign: string }
    }
    expect(key).toBe(credentials.login + credentials.password)
    expect(message).toBe(meta.time + data.attributes.refresh)
    expect(createHmac('sha256', key).update(message).digest('hex')).toBe(sign)
    expect(meta.sign).toBe(sign)
  })

  it('when it is written in the other ways, then it is as on the page', () => {
    const digest = createHash('sha256').update(key).digest()
    expect(section).toContain(`\`${createHmac('sha256', digest).update(message).digest('hex')}\``)
    expect(section).toContain(`\`${createHmac('sha256', key).update(message).digest('base64')}\``)
  })
})

import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import type { AxiosError } from 'axios'
import axios, { AxiosHeaders } from 'axios'
import { attachBearer, TokenError } from '../../src/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { type Challenge, challengeOf } from '../../src/oauth2/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf } from '../axios/support/turns.ts'

const response = (header: string, status = 401) =>
  new Response(null, { status, headers: { 'WWW-Authenticate': header } })
const of = (header: string, status?: number) => challengeOf(response(header, status))

const CLAIMS = '{"access_token":{"acrs":{"essential":true,"value":"c1"}},"name":"Zoë"}'
const base64 = Buffer.from(CLAIMS).toString('base64')
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
const STEP_UP = 'Bearer error="insufficient_user_authentication", error_description="A different level is required"'

describe('given a response that asks for more than a valid token (F408)', () => {
  it.each<[string, Challenge]>([
    // RFC 9470, section 3, figures 2 and 3
    [`${STEP_UP}, acr_values="myACR"`, { error: 'insufficient_user_authentication', acrValues: ['myACR'] }],
    [`${STEP_UP}, max_age="5"`, { error: 'insufficient_user_authentication', maxAgeS: 5 }],
    [
      `${STEP_UP}, acr_values="gold  silver ", max_age=0`,
      { error: 'insufficient_user_authentication', acrValues: ['gold', 'silver'], maxAgeS: 0 },
    ],
    // RFC 6750, section 3.1
    ['Bearer realm="x", error="insufficient_scope", scope="a b"', { error: 'insufficient_scope', scope: 'a b' }],
    // The authorization of MCP
    [
      'Bearer error="insufficient_scope", scope="files:write", resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"',
      {
        error: 'insufficient_scope',
        scope: 'files:write',
        resourceMetadata: 'https://api.example.com/.well-known/oauth-protected-resource',
      },
    ],
    [`Bearer error="insufficient_claims", claims="${base64}"`, { error: 'insufficient_claims', claims: CLAIMS }],
    [
      `Bearer error="insufficient_claims", claims="${Buffer.from(CLAIMS).toString('base64url')}"`,
      { error: 'insufficient_claims', claims: CLAIMS },
    ],
    [
      `Bearer error="insufficient_claims", claims=${quoted('{"id_token":{"acr":null}}')}`,
      { error: 'insufficient_claims', claims: '{"id_token":{"acr":null}}' },
    ],
    // An extension: the members decide, whatever the error is called.
    ['DPoP acr_values=gold', { acrValues: ['gold'] }],
    [
      'Basic realm="a", Bearer error="invalid_token", DPoP error="insufficient_scope", scope=a',
      { error: 'insufficient_scope', scope: 'a' },
    ],
    [
      'Bearer error="insufficient_scope", scope="", max_age="soon", claims="no claims", acr_values=" "',
      { error: 'insufficient_scope' },
    ],
    ['Bearer error="insufficient_scope", claims="WzFd"', { error: 'insufficient_scope' }],
  ])('when its header is %j, then the members are read (F408)', (header, expected) => {
    for (const status of [401, 403]) expect(of(header, status)).toStrictEqual(expected)
  })

  it.each<[string, string, keyof Challenge]>([
    ['scope', 's', 'scope'],
    ['acr_values', 'a', 'acrValues'],
    ['resource_metadata', 'r', 'resourceMetadata'],
  ])('when %s is longer than 8 KiB, then it is absent, and the others are there (F408)', (name, letter, member) => {
    const header = (length: number) => `Bearer error="insufficient_scope", ${name}="${letter.repeat(length)}"`
    expect(Object.keys(of(header(8_192))!)).toEqual(['error', member])
    expect(of(header(8_193))).toStrictEqual({ error: 'insufficient_scope' })
    expect(of(header(40_000))).toStrictEqual({ error: 'insufficient_scope' })
  })

  it('when decoded claims are longer than 8 KiB, then they are absent (F408)', () => {
    const claims = (bytes: number) => {
      const text = JSON.stringify({ id: 'ü'.repeat((bytes - 9) / 2) })
      return Buffer.from(text).toString('base64')
    }
    const header = (bytes: number) => `Bearer error="insufficient_claims", claims="${claims(bytes)}"`
    expect(Buffer.byteLength(of(header(8_191))!.claims!)).toBe(8_191)
    expect(of(header(8_193))).toStrictEqual({ error: 'insufficient_claims' })
  })

  it('when the prototype of all objects is polluted, then its members do not count (F408, F365)', () => {
    const polluted = Object.prototype as Record<string, unknown>
    try {
      Object.assign(polluted, {
        scope: 'admin',
        status: 403,
        headers: response('Bearer error="insufficient_scope"').headers,
      })
      const challenge = of(`${STEP_UP}, max_age=5`)!
      expect(Object.entries(challenge)).toEqual([
        ['error', 'insufficient_user_authentication'],
        ['maxAgeS', 5],
      ])
      expect(challengeOf(new Error('mine'))).toBeUndefined()
    } finally {
      for (const name of ['scope', 'status', 'headers']) Reflect.deleteProperty(polluted, name)
    }
  })
})

describe('given a response that asks for nothing more (F408)', () => {
  it.each([
    ['Bearer', 401],
    ['Bearer realm="x", scope="a"', 401],
    ['Bearer error="invalid_token", scope="a", resource_metadata="https://api.example.com/"', 401],
    ['DPoP error="use_dpop_nonce"', 401],
    ['Bearer error="insufficient_scope', 403],
    ['Bearer error="insufficient_scope", error="insufficient_scope"', 403],
    ['Bearer error="insufficient_scope"', 200],
    ['Bearer error="insufficient_scope"', 302],
    ['Bearer error="insufficient_scope"', 503],
    [`Bearer error="insufficient_scope", scope="${'a'.repeat(66_000)}"`, 403],
  ])('when its header begins with %.60j and its status is %d, then there is no challenge (F408)', (header, status) => {
    expect(challengeOf({ status, headers: { 'www-authenticate': header } })).toBeUndefined()
  })

  it.each([
    undefined,
    null,
    'text',
    7,
    new Error('no'),
    new TokenError('ERR_LOGIN_REQUIRED', 'no', { loginReason: 'expired' }),
    {},
    { status: 401 },
  ])('when it is %p, then there is no challenge (F408)', (error) => {
    expect(challengeOf(error)).toBeUndefined()
  })

  it('when reading it throws, then there is no challenge (F408)', () => {
    const broken = () => {
      throw new Error('no')
    }
    const unreadable = new Proxy({}, { get: broken, ownKeys: broken })
    for (const error of [unreadable, { status: 401, headers: unreadable }, { status: 401, headers: { get: broken } }])
      expect(challengeOf(error)).toBeUndefined()
  })
})

describe('given the errors of clients (F408)', () => {
  const header = `${STEP_UP}, acr_values="gold", max_age="300"`
  const expected = { error: 'insufficient_user_authentication', acrValues: ['gold'], maxAgeS: 300 }

  it('when axios or fetch receives the challenge, then no token is renewed, nothing prints it but the response, and it is found (F408)', async () => {
    const server = await startApi(() => ({ status: 401, headers: { 'WWW-Authenticate': header } }))
    const { tokens, minted, anomalies } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    const error = await failureOf<AxiosError>(api.get('/'))
    const received = await withBearer(fetch, tokens, { origins: [server.baseUrl] })(server.baseUrl)
    expect([error, error.response, received, { cause: error }].map(challengeOf)).toEqual(Array(4).fill(expected))
    expect([minted.calls, anomalies, server.received.length]).toEqual([1, [], 2])
    expect(error.message + inspect(tokens.status())).not.toContain('gold')
  })

  it.each<[string, unknown]>([
    ['openai', { status: 401, headers: new Headers({ 'www-authenticate': header }) }],
    ['stripe', { statusCode: 401, headers: { 'WWW-Authenticate': header } }],
    ['octokit', { status: 401, response: { status: 401, headers: { 'www-authenticate': header } } }],
    ['ky', { response: response(header) }],
    [
      'an adapter with the status as text',
      { response: { status: '401', headers: new AxiosHeaders({ 'www-authenticate': header }) } },
    ],
    ['several lines', { status: 401, headers: { 'www-authenticate': ['Basic realm="x"', header] } }],
    ...['cause', 'detail', 'original'].map((name): [string, unknown] => [
      name,
      { [name]: { cause: { detail: { original: { response: response(header) } } } } },
    ]),
  ])('when it is that of %s, then the challenge is found (F408, F379)', (_, error) => {
    expect(challengeOf(error)).toStrictEqual(expected)
  })

  it('when it is five deep, then it is not found (F408, F379)', () => {
    expect(challengeOf({ cause: { cause: { cause: { cause: { cause: response(header) } } } } })).toBeUndefined()
  })
})

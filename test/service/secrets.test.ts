import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { AxiosError, CanceledError, type AxiosAdapter } from 'axios'
import nock from 'nock'
import { clientCredentials } from '../../src/service/client-credentials.ts'
import { CANARY, logged } from '../support/canary.ts'
import { failureOf, grantText, misuse, obtain, response } from './world.ts'

/** Marks that occur nowhere else. The client id counts as a credential. */
const ID = 'canary-id-7f3a9c'
const SECRET = 'canary-secret-5be12d'
const TOKEN = 'canary-token-c08e41'
/** Marks the rest of responses, requests and errors. */
const BODY = 'canary-body-93d7aa'

const marked = { baseUrl: 'https://tokens.example/api', clientId: ID, clientSecret: SECRET }
const behind = (adapter: AxiosAdapter) => clientCredentials({ ...marked, transport: { adapter } })

async function expectSilent(adapter: AxiosAdapter, signal?: AbortSignal): Promise<void> {
  const error = await failureOf(obtain(behind(adapter), signal))
  expect(logged(error)).not.toMatch(CANARY)
}

/** The usual response, with the marked token. */
const issued = (attributes: Record<string, string | undefined> = {}) =>
  grantText({ access: `"${TOKEN}"`, ...attributes })

beforeAll(() => {
  nock.disableNetConnect()
})

afterEach(() => {
  nock.cleanAll()
})

afterAll(() => {
  nock.enableNetConnect()
  nock.restore()
})

describe('given marked credentials and responses that quote the request (P15)', () => {
  const statuses = [300, 302, 307, 400, 401, 403, 404, 405, 408, 410, 415, 425, 429, 500, 502, 503, 504, 599, 600]

  it.each(statuses)('when a %i quotes the whole request, then none of it is in the error', async (status) => {
    await expectSilent(async (config) => {
      const quoted = `${String(config.data)} ${JSON.stringify(config.headers)} ${BODY}`
      const location = `https://elsewhere.example/${ID}?secret=${SECRET}#${TOKEN}`
      return response(config, quoted, status, { location, 'retry-after': BODY, date: BODY, 'x-debug': quoted })
    })
  })

  it.each([
    ['the detail', { errors: [{ code: '2006', detail: `${ID} ${SECRET} ${BODY}` }] }],
    ['the code, as a sentence', { code: `no client ${ID}` }],
    ['the name of a member', { [ID]: SECRET, errors: { [SECRET]: ID } }],
    ['the pointer of the source', { errors: [{ source: { pointer: `/data/${SECRET}`, parameter: ID } }] }],
  ])('when an error document quotes them in %s, then none of it is in the error', async (_, document) => {
    await expectSilent(async (config) => response(config, JSON.stringify(document), 400))
  })

  it.each([
    ['id', ID],
    ['secret', SECRET],
  ])('when an error document has the %s as its code, then it does not count as a code', async (_, code) => {
    await expectSilent(async (config) => response(config, JSON.stringify({ errors: [{ code }] }), 400))
  })
})

describe('given marked credentials and an unusable 200 (P15)', () => {
  it.each<[string, unknown]>([
    ['half a document', issued().slice(0, -3)],
    ['a document with a mark where JSON breaks', issued().replace('"data"', BODY)],
    ['invalid UTF-8', Buffer.concat([Buffer.from(issued()), Buffer.from([0xff])])],
    ['an oversized document', issued().padEnd(70_000)],
    ['another type', issued().replace('auth-token', BODY)],
    ['no lifetime', issued({ expires_in: `"${BODY}"` })],
    ['another token type', issued({ token_type: `"${BODY}"` })],
    ['a token that cannot be sent', issued({ access: `"${TOKEN} ${BODY}"` })],
    ['a token with a line break', issued({ access: `"${TOKEN}\\r\\n${BODY}"` })],
    ['a token in an array', issued({ access: `["${TOKEN}"]` })],
    ['Variant B', issued({ expires_in: undefined, access_expired_at: `"${BODY}"`, refresh: `"${BODY}"` })],
    ['errors', `{"errors":[{"detail":"${BODY}"}],"note":"${SECRET}"}`],
    ['text', JSON.stringify(TOKEN)],
    ['keys that are marks', `{"${TOKEN}":{"${SECRET}":1}}`],
    ['an object', { data: { type: BODY, attributes: { access: TOKEN } } }],
  ])('when it is %s, then none of it is in the error', async (_, body) => {
    await expectSilent(async (config) => response(config, body))
  })

  it('when unexpected responses are reported, then the reports show nothing of them', async () => {
    const text = issued({ expires_in: '"60"', token_type: undefined }).replace('"id":"7"', `"id":["${BODY}"]`)
    const { grant, reports } = await obtain(behind(async (config) => response(config, text)))
    expect(grant.accessToken).toBe(TOKEN)
    expect(reports).toHaveLength(3)
    expect(logged(reports)).not.toMatch(CANARY)
  })
})

describe('given marked credentials and a request that fails (P15, F128)', () => {
  it.each<[string, AxiosAdapter]>([
    [
      'an axios error with its request',
      async (config) => {
        throw new AxiosError(BODY, 'ERR_NETWORK', config, { body: config.data as unknown })
      },
    ],
    [
      'an axios error with a response',
      async (config) => {
        throw new AxiosError(
          BODY,
          'ERR_BAD_REQUEST',
          config,
          { body: config.data as unknown },
          response(config, issued(), 400),
        )
      },
    ],
    [
      'a cancellation',
      async (config) => {
        throw new CanceledError(BODY, config as never)
      },
    ],
    [
      'an error about the request',
      async (config) => {
        throw new Error(`no match for ${String(config.data)}`)
      },
    ],
    [
      'an error with members',
      async (config) => {
        throw Object.assign(new Error(BODY), { config, code: 'ECONNRESET' })
      },
    ],
    [
      'an error with causes',
      async (config) => {
        throw new Error(BODY, { cause: new Error(BODY, { cause: config }) })
      },
    ],
    [
      'the request itself',
      async (config) => {
        throw config as unknown as Error
      },
    ],
    [
      'the body itself',
      async (config) => {
        throw config.data as Error
      },
    ],
    [
      'a stream that quotes them and breaks',
      async (config) =>
        response(
          config,
          (async function* () {
            yield issued()
            throw Object.assign(new Error(String(config.data)), { config })
          })(),
        ),
    ],
  ])('when it throws %s, then none of it is in the error', async (_, adapter) => {
    await expectSilent(adapter)
  })

  it('when it is aborted with a reason that contains them, then none of it is in the error', async () => {
    const controller = new AbortController()
    const waiting: AxiosAdapter = (config) =>
      new Promise((_, reject) => {
        config.signal!.addEventListener!('abort', () => reject(controller.signal.reason as Error))
        controller.abort(new Error(`${SECRET} ${BODY}`))
      })
    await expectSilent(waiting, controller.signal)
    await expectSilent(waiting, AbortSignal.abort(new Error(`${SECRET} ${BODY}`)))
  })

  it.each(['http', 'fetch'])(
    'when nock has no such request over %s, then none of it is in the error',
    async (adapter) => {
      nock('https://tokens.example').post('/elsewhere', BODY).reply(200)
      const error = await failureOf(obtain(clientCredentials({ ...marked, transport: { adapter } })))
      expect(error.code).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE')
      expect(logged(error)).not.toMatch(CANARY)
    },
  )

  it.each(['http', 'fetch'])(
    'when nock breaks the request over %s, then none of it is in the error',
    async (adapter) => {
      const broken = Object.assign(new Error(`${SECRET} ${BODY}`), { code: 'ECONNRESET' })
      nock('https://tokens.example').post('/api/token/').replyWithError(broken)
      const error = await failureOf(obtain(clientCredentials({ ...marked, transport: { adapter } })))
      expect(logged(error)).not.toMatch(CANARY)
    },
  )

  it('when transport has secrets of its own, then they are not in the error', async () => {
    const transport = {
      headers: { 'X-Proxy-Key': BODY },
      proxy: { host: '127.0.0.1', port: 1, auth: { username: ID, password: BODY } },
    }
    const error = await failureOf(obtain(clientCredentials({ ...marked, transport })))
    expect(logged(error)).not.toMatch(CANARY)
  })

  it('when the address has a query, then it is not in the error (F130)', async () => {
    const baseUrl = `https://tokens.example/api?key=${BODY}`
    const adapter: AxiosAdapter = async (config) => response(config, '', 404)
    const error = await failureOf(obtain(clientCredentials({ ...marked, baseUrl, transport: { adapter } })))
    expect(error.message).toContain('https://tokens.example/api/token/')
    expect(logged(error)).not.toMatch(CANARY)
  })
})

describe('given marked credentials from a function (P15)', () => {
  const provided = (credentials: () => unknown) =>
    clientCredentials({ baseUrl: marked.baseUrl, credentials: credentials as never, account: ID })

  it.each<[string, () => unknown]>([
    ['text', () => SECRET],
    ['half of them', () => ({ clientId: ID })],
    ['them under other names', () => ({ client_id: ID, client_secret: SECRET })],
    ['them with NUL', () => ({ clientId: ID, clientSecret: `${SECRET}\0` })],
    ['them in objects', () => ({ clientId: { value: ID }, clientSecret: { value: SECRET } })],
    [
      'them, thrown',
      () => {
        throw { clientId: ID, clientSecret: SECRET } as unknown as Error
      },
    ],
    ['an error that contains them', () => Promise.reject(Object.assign(new Error('sealed'), { last: SECRET }))],
    [
      'a thrown string',
      () => {
        throw SECRET as unknown as Error
      },
    ],
  ])('when it returns %s, then none of it is in the error', async (_, credentials) => {
    expect(logged(await failureOf(obtain(provided(credentials))))).not.toMatch(CANARY)
  })
})

describe('given marked credentials and invalid options (P15)', () => {
  it.each<[string, object]>([
    ['an unusable id', { clientId: `${ID}\0` }],
    ['an unusable secret', { clientSecret: `${SECRET}\ud800` }],
    ['both kinds of credentials', { credentials: () => ({ clientId: ID, clientSecret: SECRET }) }],
    ['no https', { baseUrl: `http://tokens.example/api?${BODY}#${BODY}` }],
    ['a password in the address', { baseUrl: `https://${ID}:${SECRET}@tokens.example/api?${BODY}` }],
    ['no transport', { transport: null }],
  ])('when there is %s, then the TypeError shows nothing of them', (_, wrong) => {
    expect(logged(misuse(() => clientCredentials({ ...marked, ...wrong })))).not.toMatch(CANARY)
  })
})

import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { type AccountRequest, bff } from '../../examples/bff/bff.ts'
import { logEvents, TokenError } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { listening } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const KEY = { id: 'k', key: randomBytes(32) }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Two servers of the page's example, over one register. Express would call the handlers in the same order. */
async function startServers() {
  const service = await startTokenService()
  closing.push(() => service.close())
  const register = new MemoryRegister()
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const logger = { info: log, warn: log, error: log }
  const origins = await Promise.all([1, 2].map(() => startServer(service, register, logger)))
  return { service, register, origins, lines }
}

async function startServer(
  service: SimulatedService,
  register: MemoryRegister,
  logger: Parameters<typeof logEvents>[1],
): Promise<string> {
  const { tokenEndpoint, revocationEndpoint, client, baseUrl } = service
  const store = sharedStore(register, { onUnavailable: 'fail', encryptionKeys: [KEY] })
  const routes = bff({ store, api: baseUrl, client: { tokenEndpoint, revocationEndpoint, ...client } })
  const route = async (request: AccountRequest, response: ServerResponse) => {
    if (request.url === '/callback') {
      const { accessToken, accessLifetimeMs, refreshToken } = await service.logIn()
      const answer = { access_token: accessToken, expires_in: accessLifetimeMs / 1_000, refresh_token: refreshToken }
      await routes.logIn(response, answer)
      response.end()
    } else if (request.url === '/logout') response.end(String(await routes.logOut(request, response)))
    else if (!request.account) throw new TokenError('ERR_LOGIN_REQUIRED', 'There is no session')
    else response.end(JSON.stringify((await request.account.api.get('/wallet')).data))
  }
  const server = createServer((request: AccountRequest, response) => {
    routes.withAccount(request, response, () => {
      if (request.account) logEvents(request.account.tokens, logger)
      route(request, response).catch((thrown: unknown) => {
        routes.answerLogin(thrown, request, response, () => response.writeHead(500).end())
      })
    })
  })
  const host = await listening(server)
  return `http://${host}`
}

const browser = axios.create({ validateStatus: null, proxy: false })
const cookieIn = (headers: Record<string, unknown>) => String((headers['set-cookie'] as string[])[0])

describe('given the BFF of the guide, on two servers with one store', () => {
  it('when a user logs in at one, then both know the user, with one refresh for all requests, until the user logs out at the other', async () => {
    const { service, origins } = await startServers()
    const [one, two] = origins as [string, string]
    const { headers } = await browser.get(`${one}/callback`)
    expect(cookieIn(headers)).toMatch(/^session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    const cookie = { headers: { Cookie: cookieIn(headers).split(';', 1)[0] } }
    service.revokeAccessTokens()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => browser.get(`${n % 2 ? one : two}/`, cookie)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(service.log.filter(({ kind }) => kind === 'refresh')).toHaveLength(1)
    const left = await browser.get(`${two}/logout`, cookie)
    expect([left.data, cookieIn(left.headers)]).toEqual([true, expect.stringContaining('Max-Age=0')])
    expect((await browser.get(`${one}/`, cookie)).status).toBe(401)
  })

  it('F386: when a user sends 440 requests in the hour of a token, each with a manager of its own, and the API rejects the token, then there is one line in the log', async () => {
    const { service, origins, lines } = await startServers()
    const { headers } = await browser.get(`${origins[0]}/callback`)
    const cookie = { headers: { Cookie: cookieIn(headers).split(';', 1)[0] } }
    service.revokeAccessTokens()
    // The managers of the first 40 requests meet the rejected token. One renews, the others adopt.
    for (let round = 0; round < 11; round += 1) {
      const requests = Array.from({ length: 40 }, (_, at) => browser.get(`${origins[at % 2]}/`, cookie))
      for (const { status } of await Promise.all(requests)) expect(status).toBe(200)
    }
    expect(lines).toEqual([expect.stringMatching(/renewed: refresh/)])
  })

  it('when there is no session, or a forged one, then the response is 401, and the service is not called', async () => {
    const { service, origins } = await startServers()
    for (const session of ['', 'x', 'a'.repeat(43)]) {
      const { status } = await browser.get(`${origins[0]}/`, { headers: { Cookie: `session=${session}` } })
      expect([session, status]).toEqual([session, 401])
    }
    expect(service.log).toEqual([])
  })

  it('when the store cannot save a login, then the response is 503, and no cookie is set (N10)', async () => {
    const { register, origins } = await startServers()
    register.replace = () => Promise.reject(new Error('down'))
    const { status, headers } = await browser.get(`${origins[0]}/callback`)
    expect([status, headers['set-cookie']]).toEqual([503, undefined])
  })
})

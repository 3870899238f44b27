import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import axios from 'axios'
import { type AccountRequest, bff } from '../../examples/bff/bff.ts'
import { createTokenManager } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { fences } from '../support/document-code.ts'
import { runCode } from '../support/page-code.ts'
import { listening } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'

let service: SimulatedService
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await service.close()
})

interface Session {
  refreshToken?: string
}
const [code = ''] = fences('ts', readFileSync('docs/moving-logins.md', 'utf8'))
const { carryOver } = runCode(code, {}) as { carryOver: (session: Session, tokens: LoginManager) => Promise<void> }

describe('given sessions of older code, and the guide for users who are already logged in', () => {
  it('when ten requests of each migrate its refresh token, at once and later, on three servers, then no login is lost, with one refresh each', async () => {
    service = await startTokenService()
    const register = new MemoryRegister()
    const encryptionKeys = [{ id: 'k', key: randomBytes(32) }]
    const stores = [1, 2, 3].map(() => sharedStore(register, { onUnavailable: 'fail', encryptionKeys }))
    const { tokenEndpoint, client } = service
    const served: boolean[] = []
    const request = async (n: number, person: number, refreshToken: string) => {
      const source = oauth2({ tokenEndpoint, ...client, grant: 'login' })
      const tokens = createTokenManager({ source, store: stores[n % 3]!, storeKey: `session-${person}` })
      tokens.on('anomaly', () => undefined)
      await carryOver({ refreshToken }, tokens)
      served.push(await tokens.getAccessToken().then(Boolean, () => false))
      await tokens.close()
    }
    for (let person = 0; person < 6; person += 1) {
      const { refreshToken } = await service.logIn()
      await Promise.all(Array.from({ length: 10 }, (_, n) => request(n, person, refreshToken)))
      for (const late of [0, 1, 2]) await request(late, person, refreshToken)
    }
    expect(served).toEqual(Array(6 * 13).fill(true))
    expect(service.log.filter(({ kind }) => kind === 'refresh')).toHaveLength(6)
  })
})

describe('given the BFF of the guide, and sessions in which older code has stored a refresh token', () => {
  /** A server of the BFF. Express would call the handlers in the same order. @param sessions What the session middleware has saved. */
  async function startServer(
    register: MemoryRegister,
    encryptionKeys: SharedStoreOptions['encryptionKeys'],
    sessions: Map<string, Session>,
  ) {
    const { tokenEndpoint, revocationEndpoint, client, baseUrl } = service
    const store = sharedStore(register, { onUnavailable: 'fail', encryptionKeys })
    const routes = bff({ store, api: baseUrl, client: { tokenEndpoint, revocationEndpoint, ...client } })
    const server = createServer((request: AccountRequest, response) => {
      routes.withAccount(request, response, () => {
        const answered = async () => {
          const { session = '', account } = request
          await carryOver(sessions.get(session) ?? {}, account!.tokens)
          response.end(JSON.stringify((await account!.api.get('/wallet')).data))
        }
        answered().catch((thrown: unknown) => {
          routes.answerLogin(thrown, request, response, () => response.writeHead(500).end())
        })
      })
    })
    servers.push(server)
    return `http://${await listening(server)}`
  }

  it('when ten requests arrive at once, and again after a restart with the older sessions, then all are served, with one refresh (F348)', async () => {
    service = await startTokenService()
    const register = new MemoryRegister()
    const encryptionKeys = [{ id: 'k', key: randomBytes(32) }]
    const session = randomBytes(32).toString('base64url')
    const { refreshToken } = await service.logIn()
    const start = () => startServer(register, encryptionKeys, new Map([[session, { refreshToken }]]))
    const tenRequests = async (origin: string) => {
      const options = { headers: { Cookie: `session=${session}` }, validateStatus: null, proxy: false } as const
      return (await Promise.all(Array.from({ length: 10 }, () => axios.get(origin, options)))).map(
        ({ status }) => status,
      )
    }
    expect(await tenRequests(await start())).toEqual(Array(10).fill(200))
    expect(await tenRequests(await start())).toEqual(Array(10).fill(200))
    expect(service.log.filter(({ kind }) => kind === 'refresh')).toHaveLength(1)
  })
})

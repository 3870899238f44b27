import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import axios, { AxiosError, AxiosHeaders } from 'axios'
import * as evergreen from '../../src/index.ts'
import type { LoginStatus } from '../../src/login/index.ts'
import type * as Errors from '../../src/core/errors.ts'
import { fromTokenResponse, oauth2 } from '../../src/oauth2/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { listening } from '../service/world.ts'
import { fences } from '../support/document-code.ts'
import { runCode } from '../support/page-code.ts'

const { attachBearer, createTokenManager, isLoginRequired, memoryStore, TokenError } = evergreen

const manager = (login: 'present' | 'required' | undefined) => ({
  status: () => ({ login }) as LoginStatus as evergreen.TokenStatus,
})
const config = { headers: new AxiosHeaders() }
const responded = (status: number) => ({ status, statusText: '', data: '', headers: {}, config })
const failed = (status: number) => new AxiosError('failed', 'ERR_BAD_REQUEST', config, {}, responded(status))

/** A second copy of the module, as in a program that loads the package both as ESM and as CommonJS. */
function otherCopy(): typeof Errors {
  let copy: typeof Errors | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<typeof Errors>('../../src/core/errors.ts')
  })
  return copy!
}

describe('given ERR_LOGIN_REQUIRED (F282)', () => {
  it.each([
    ['of this copy of the package', () => TokenError],
    ['of another copy', () => otherCopy().TokenError],
  ])('when it is %s, then the user must log in, whatever the status of the manager', (_, classOf) => {
    const error = new (classOf())('ERR_LOGIN_REQUIRED', 'log in')
    for (const tokens of [undefined, manager(undefined), manager('present'), manager('required')])
      expect(isLoginRequired(error, tokens)).toBe(true)
  })
})

describe('given a response 401 of the API (F282)', () => {
  it.each<[string, (status: number) => unknown]>([
    ['an error of axios', failed],
    ['a response of axios', responded],
    ['a response whose status is a string', (status) => ({ status: String(status) })],
    ['a Response', (status) => new Response('', { status })],
    ['an error with a Response', (status) => Object.assign(new Error(), { response: new Response('', { status }) })],
  ])('when it is %s, then the user must log in while the manager requires it, and only then', (_, answer) => {
    expect(
      [undefined, manager(undefined), manager('present'), manager('required')].map((tokens) =>
        isLoginRequired(answer(401), tokens),
      ),
    ).toEqual([false, false, false, true])
    for (const status of [200, 400, 403, 500]) expect(isLoginRequired(answer(status), manager('required'))).toBe(false)
  })
})

describe('given any other value', () => {
  it.each<[string, unknown]>([
    ['another TokenError', new TokenError('ERR_CREDENTIALS_REJECTED', 'wrong secret', { status: 401 })],
    ['no response', new AxiosError('Network Error', 'ERR_NETWORK', config)],
    ['a foreign error with that code', Object.assign(new Error(), { code: 'ERR_LOGIN_REQUIRED' })],
    ['undefined', undefined],
    ['null', null],
    ['a string', '401'],
    [
      'an error that cannot be read',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no')
          },
        },
      ),
    ],
  ])('when it is %s, then it reveals nothing about the login', (_, error) => {
    expect([isLoginRequired(error), isLoginRequired(error, manager('required'))]).toEqual([false, false])
  })

  it('when Object.prototype has a response, then it does not count', () => {
    Object.assign(Object.prototype, { response: { status: 401 }, status: 401 })
    const isRequired = isLoginRequired(new Error('broken'), manager('required'))
    for (const name of ['response', 'status']) Reflect.deleteProperty(Object.prototype, name)
    expect(isRequired).toBe(false)
  })
})

type Next = (error: unknown) => void
type Handler = (error: unknown, request: object, response: object, next: Next) => void

/** @returns The exports of a block of a guide. */
function exportsOf(document: string, name: string): Record<string, unknown> {
  const code = fences('ts', readFileSync(document, 'utf8')).find((one) => one.includes(name))!
  return runCode(code, { require: () => evergreen }) as Record<string, unknown>
}

describe('given the handler of the guide for Express, and users who log out in another process', () => {
  const ends: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  it('when 50 users do, then each of their 150 later requests here gets a 401 (F282)', async () => {
    const service = await startTokenService()
    ends.push(() => service.close())
    const { tokenEndpoint, revocationEndpoint, loginEndpoint, baseUrl } = service
    const store = memoryStore()
    const openSession = (account: string) => {
      const source = oauth2({ tokenEndpoint, revocationEndpoint, clientId: 'back-end', grant: 'login', account })
      const tokens = createTokenManager({ source, store })
      ends.push(() => tokens.close())
      return tokens
    }
    const people = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const [here, there] = [openSession(`person-${n}`), openSession(`person-${n}`)]
        const form = new URLSearchParams({ subject: `person-${n}`, client_id: 'back-end' })
        const { data } = await axios.post<Record<string, unknown>>(loginEndpoint, form)
        await there.adopt(fromTokenResponse(data))
        const api = axios.create({ baseURL: baseUrl })
        attachBearer(api, here)
        return { tokens: here, there, api }
      }),
    )
    const answerLogin = exportsOf('docs/errors.md', 'answerLogin').answerLogin as Handler
    let met401 = 0
    const server = createServer((request, response) => {
      const { api, tokens } = people[Number(request.url!.slice(1))]!
      const failedHere: Next = () => void response.writeHead(500).end()
      api.get('/me').then(
        () => response.end(),
        (error: unknown) => {
          if (error instanceof AxiosError && error.response?.status === 401) met401 += 1
          answerLogin(error, Object.assign(request, { tokens }), response, failedHere)
        },
      )
    })
    const origin = `http://${await listening(server)}`
    const ask = async (n: number) => (await axios.get(`${origin}/${n}`, { validateStatus: null })).status
    expect(new Set(await Promise.all(people.map((_, n) => ask(n))))).toEqual(new Set([200]))
    const responses = await Promise.all(
      people.map(async ({ there }, n) => {
        expect(await there.logout()).toEqual({ revoked: true })
        return Promise.all([ask(n), ask(n), ask(n)])
      }),
    )
    expect(responses.flat()).toEqual(Array.from({ length: 150 }, () => 401))
    // Without the second part of the predicate, these would get a 500.
    expect(met401).toBeGreaterThan(0)
  })
})

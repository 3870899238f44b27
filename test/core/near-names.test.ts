import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import {
  attachBearer,
  clientCredentials,
  createTokenManager,
  logEvents,
  loginPassword,
  type TokenManager,
} from '../../src/index.ts'
import { nearest } from '../../src/core/option-checks.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { inspect } from '../../src/inspector/index.ts'
import { mcpLogin } from '../../src/mcp/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { instrument } from '../../src/opentelemetry/index.ts'
import { postgresStore } from '../../src/postgres/index.ts'
import { redisStore } from '../../src/redis/index.ts'
import { sqliteStore } from '../../src/sqlite/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { webStore } from '../../src/web/index.ts'
import { misuse } from '../service/world.ts'
import { ScriptedSource } from '../support/managed.ts'

const tokens: TokenManager = createTokenManager({ source: new ScriptedSource() })
const api = axios.create({ baseURL: 'https://api.example' })
const panel = { append: () => undefined } as never

type Options = Readonly<Record<string, unknown>>
const FUNCTIONS: Readonly<Record<string, (options: Options) => unknown>> = {
  createTokenManager: (options) => createTokenManager(options as never),
  renewal: (renewal) => createTokenManager({ source: new ScriptedSource(), renewal }),
  retry: (retry) => createTokenManager({ source: new ScriptedSource(), retry }),
  transport: (transport) =>
    clientCredentials({ baseUrl: 'https://a.example', clientId: 'a', clientSecret: 'b', transport }),
  clientCredentials: (options) => clientCredentials(options as never),
  loginPassword: (options) => loginPassword(options as never),
  oauth2: (options) => oauth2(options as never),
  attachBearer: (options) => attachBearer(api, tokens, options),
  withBearer: (options) => withBearer(fetch, tokens, options as never),
  mcpLogin: (options) => mcpLogin(options as never),
  sharedStore: (options) => sharedStore({} as never, options),
  redisStore: (options) => redisStore(options as never),
  postgresStore: (options) => postgresStore(options as never),
  sqliteStore: (options) => sqliteStore(options as never),
  webStore: (options) => webStore(options),
  logEvents: (options) => logEvents(tokens, console, options),
  inspect: (options) => inspect(tokens, panel, options),
  instrument: (options) => instrument(tokens, options),
}

/** @returns The names that a function lists for a name that resembles none. */
function namesOf(name: string): string[] {
  const { message } = misuse(() => FUNCTIONS[name]!({ qqqqqqqqqqqq: 1 }))
  return message.split("there is no 'qqqqqqqqqqqq', use ")[1]!.split(', ')
}

const TYPED: ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  (name) => `${name}s`,
  (name) => name.slice(0, -1),
]

describe("given a near miss of an option's name", () => {
  it.each(Object.keys(FUNCTIONS))('F313: when %s gets it, then the error suggests the right name', (name) => {
    const names = namesOf(name)
    expect(names.length).toBeGreaterThan(0)
    for (const option of names)
      for (const typed of TYPED.map((type) => type(option)).filter((one) => !names.includes(one))) {
        // `adopt()` accepts it (F384).
        if (typed === 'refreshToken') continue
        const { message } = misuse(() => FUNCTIONS[name]!({ [typed]: 1 }))
        expect(message).toMatch(new RegExp(`there is no '${typed}', did you mean '${option}'\\?$`))
      }
  })

  it.each([
    ['baseURL', 'baseUrl'],
    ['client_id', 'clientId'],
    ['origin', 'origins'],
    ['orgin', 'origins'],
    ['storekey', 'storeKey'],
    ['skew', 'skewMs'],
    ['stroe', 'store'],
    ['url', undefined],
    ['apx', 'api'],
    ['axx', undefined],
    ['', undefined],
    ['keepAlive', undefined],
  ])('when it is %j, then the suggestion is %j', (given, meant) =>
    expect(nearest(given, ['baseUrl', 'clientId', 'origins', 'storeKey', 'store', 'skewMs', 'api'])).toBe(meant),
  )
})

describe("given an option's name that belongs to another function (F384, F413)", () => {
  const source = 'the token source'
  it.each([
    ['oauth2', 'store', 'createTokenManager'],
    ['oauth2', 'refreshToken', 'adopt() of the token manager'],
    ['oauth2', 'maxWaitMs', 'renewal of createTokenManager'],
    ['clientCredentials', 'retry', 'createTokenManager'],
    ['loginPassword', 'refreshToken', 'adopt() of the token manager'],
    ['createTokenManager', 'clientId', source],
    ['createTokenManager', 'scope', source],
    ['createTokenManager', 'maxWaitMs', 'renewal of createTokenManager'],
    ['createTokenManager', 'maxAttempts', 'retry of createTokenManager'],
    ['createTokenManager', 'origins', 'attachBearer or withBearer'],
    ['createTokenManager', 'refreshToken', 'adopt() of the token manager'],
    ['renewal', 'maxAttempts', 'retry of createTokenManager'],
    ['attachBearer', 'baseUrl', source],
    ['withBearer', 'renewal', 'createTokenManager'],
    ['redisStore', 'storeKey', 'createTokenManager'],
    // F413
    ['clientCredentials', 'scope', 'oauth2 of axios-evergreen/oauth2'],
    ['loginPassword', 'scope', 'oauth2 of axios-evergreen/oauth2'],
    ['createTokenManager', 'encryptionKeys', 'the store'],
    ['createTokenManager', 'onUnavailable', 'the store'],
    ['clientCredentials', 'tokenEndpoint', 'oauth2 of axios-evergreen/oauth2'],
    ['loginPassword', 'issuer', 'oauth2 of axios-evergreen/oauth2'],
    ['clientCredentials', 'encryptionKeys', 'the store'],
    ['oauth2', 'encryptionKeys', 'the store'],
  ])('when %s gets %s, then the error says that it belongs to %s', (name, option, home) =>
    expect(misuse(() => FUNCTIONS[name]!({ [option]: 'x' })).message).toMatch(
      new RegExp(`there is no '${option}', it belongs to ${home.replace('()', '..')}$`),
    ),
  )

  it('when the other function is of the same kind, then the error lists the names of this one', () =>
    expect(misuse(() => FUNCTIONS.loginPassword!({ clientId: 'x' })).message).toMatch(/, use .*login, password, /))
})

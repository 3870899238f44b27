import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager, loginPassword } from '../../../src/index.ts'
import { SECRETS } from './marked-service.ts'

const { clientId, clientSecret, login, password, user, pass, query, access, header, proxyPassword } = SECRETS
const baseUrl = 'https://tokens.example/api'
const PRIVATE_URL = `https://${user}:${pass}@tokens.example/api?key=${query}#${query}`

const client = (wrong: object) => clientCredentials({ baseUrl, clientId, clientSecret, ...wrong })
const account = (wrong: object) => loginPassword({ baseUrl, login, password, ...wrong })
const manager = (wrong: object) => createTokenManager({ source: client({}), ...wrong })
const attach = (wrong: object, instance = axios.create({ baseURL: baseUrl })) =>
  attachBearer(instance, manager({}), wrong)

/** Mistakes of a program with its secrets, or in options beside them. */
export const MISUSES: readonly [string, () => unknown][] = [
  ['the client id contains NUL', () => client({ clientId: `${clientId}\0` })],
  ['the client secret is not well-formed text', () => client({ clientSecret: `${clientSecret}\ud800` })],
  ['the client secret is in a list', () => client({ clientSecret: [clientSecret] })],
  ['the client secret is missing', () => client({ clientSecret: undefined })],
  ['the password is a function', () => account({ password: () => password })],
  ['the password is empty', () => account({ password: '' })],
  ['the credentials are given twice', () => account({ credentials: () => ({ login, password }) })],
  [
    'the credentials are a string',
    () => client({ clientId: undefined, clientSecret: undefined, credentials: clientSecret }),
  ],
  ['the address contains a user and a password', () => client({ baseUrl: PRIVATE_URL })],
  ['the address is not https', () => client({ baseUrl: `http://tokens.example/api?key=${query}#${query}` })],
  ['the address has another protocol', () => account({ baseUrl: PRIVATE_URL.replace('https', 'ftp') })],
  ['the address has no protocol', () => account({ baseUrl: `//${user}:${pass}@tokens.example` })],
  ['the address is a list', () => account({ baseUrl: [PRIVATE_URL] })],
  ['verifySignature is a string', () => account({ verifySignature: 'no' })],
  ['allowInsecureHttp is a number', () => client({ allowInsecureHttp: 1 })],
  ['a duration is negative', () => manager({ exchangeTimeoutMs: -1 })],
  ['a choice is unknown', () => manager({ onSuspicious: 'panic' })],
  ['a share is too large', () => manager({ renewal: { jitter: 2 } })],
  ['the number of attempts is not an integer', () => manager({ retry: { maxAttempts: 1.5 } })],
  ['the store is the address of a store', () => manager({ store: `redis://${user}:${pass}@127.0.0.1` })],
  ['the source is a list', () => manager({ source: [clientSecret] })],
  ['the obtain of the source is a token', () => manager({ source: { id: login, obtain: access } })],
  ['an event has no listener', () => manager({}).on('renewed', access as never)],
  ['the baseURL of the instance contains a password', () => attach({}, axios.create({ baseURL: PRIVATE_URL }))],
  ['an origin contains a password', () => attach({ origins: [PRIVATE_URL] })],
  ['the scheme is a whole header', () => attach({ scheme: `Bearer ${access}` })],
  [
    'a token is among the defaults',
    () => attach({}, axios.create({ baseURL: baseUrl, headers: { Authorization: access } })),
  ],
  ['refuses is a token', () => attach({ refuses: access })],
  ['the instance is a baseURL', () => attachBearer(PRIVATE_URL as never, manager({}))],
  ['the options are the client secret', () => clientCredentials(clientSecret as never)],
  ['the options are an address with a password', () => loginPassword(PRIVATE_URL as never)],
  ['the options of the manager are a token', () => createTokenManager(access as never)],
  ['the source is a token', () => manager({ source: access })],
  [
    'the origin of a source is invalid, and contains a password',
    () => manager({ source: { id: login, origin: `//${user}:${pass}@host`, obtain: () => access } }),
  ],
  ['the transport is the address of a proxy', () => client({ transport: `http://${user}:${proxyPassword}@127.0.0.1` })],
  ['the header is a whole header line', () => attach({ header: `X-Gateway-Key: ${header}` })],
  ['the manager is a token', () => attachBearer(axios.create({ baseURL: baseUrl }), access as never)],
  ['the options of an attachment are a token', () => attach(access as never)],
]

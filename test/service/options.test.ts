import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { clientCredentials, type ClientCredentialsOptions } from '../../src/service/client-credentials.ts'
import { loginPassword } from '../../src/service/login-password.ts'
import { client, misuse, sourceAt } from './world.ts'

const refused = (options: unknown) => misuse(() => clientCredentials(options as ClientCredentialsOptions))
const refusedBase = (baseUrl: unknown, more: object = {}) => refused({ ...client, baseUrl, ...more })

describe('given invalid options', () => {
  it.each([undefined, null, 'https://tokens.example', 5])(
    'when they are %p, then a TypeError reports it',
    (options) => {
      const error = refused(options)
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(/^The options of clientCredentials must be an object, got /)
    },
  )
})

describe('given an unknown option', () => {
  it.each(['timeout', 'proxy', 'login', 'verifySignature', 'name'])(
    'when it is %s, then clientCredentials throws a TypeError that lists the options (F174)',
    (name) => {
      const error = refusedBase('https://tokens.example', { [name]: 'hidden-value' })
      expect(error).toBeInstanceOf(TypeError)
      const names = 'baseUrl, transport, allowInsecureHttp, clientId, clientSecret, credentials, account'
      expect(error.message).toBe(`The options of clientCredentials: there is no '${name}', use ${names}`)
    },
  )

  it.each(['username', 'timeout', 'clientId'])('when it is %s, then loginPassword does the same (F174)', (name) => {
    const options = { baseUrl: 'https://tokens.example', login: 'a', password: 'b', [name]: 'hidden-value' }
    const names = 'baseUrl, transport, allowInsecureHttp, login, password, credentials, account, verifySignature'
    expect(misuse(() => loginPassword(options)).message).toBe(
      `The options of loginPassword: there is no '${name}', use ${names}`,
    )
  })

  it('when a class instance has an option, then it is not silently dropped (F163)', () => {
    class Settings {
      baseUrl = 'https://tokens.example'
      clientId = 'a'
      clientSecret = 'b'
      get transport() {
        return { timeout: 1 }
      }
    }
    const message = 'The options of clientCredentials must be a plain object: transport comes from a class'
    expect(() => clientCredentials(new Settings() as never)).toThrow(message)
  })
})

describe('given a base URL', () => {
  it.each([
    ...[undefined, null, 5, true, {}, [], () => 'https://tokens.example'],
    ...['', ' ', 'tokens.example', '/api', '//tokens.example', 'https://', 'https://exa mple', 'https://h:port'],
    ...[
      'ftp://tokens.example',
      'ws://tokens.example',
      'wss://tokens.example',
      'file:///etc/hosts',
      'data:text/plain,x',
    ],
    ...[
      'javascript:alert(1)',
      'tokens.example:443',
      new URL('ftp://tokens.example'),
      new URL('blob:https://tokens.example'),
    ],
  ])('when it is %p, then a TypeError states what it must be', (baseUrl) => {
    const error = refusedBase(baseUrl)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^baseUrl must be an? (absolute http or https )?URL, got /)
  })

  it.each([
    ['https://tokens.example/token', 'https://tokens.example'],
    ['https://tokens.example/token/', 'https://tokens.example'],
    ['https://tokens.example/api/v3//token?key=hidden-value', 'https://tokens.example/api/v3'],
    ['https://tokens.example/api/token/refresh', 'https://tokens.example/api'],
    [new URL('https://tokens.example/token/refresh/#top'), 'https://tokens.example'],
  ])('when it is %s, the address of a request, then a TypeError states what to write (F193)', (baseUrl, right) => {
    const error = refusedBase(baseUrl)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe(
      `baseUrl must end before /token, which each call adds: write '${right}'; for an OAuth 2.0 server use oauth2 of axios-evergreen/oauth2`,
    )
  })

  it.each([
    'https://tokens.example/tokens',
    'https://tokens.example/my-token/',
    'https://token',
    'https://a.example/token/v1',
  ])('when it is %s, then it is used (F193)', (baseUrl) => {
    expect(clientCredentials({ ...client, baseUrl }).origin).toBe(new URL(baseUrl).origin)
  })

  it.each([
    'https://someone:pass-word@tokens.example/api?key=pass-word',
    'https://:pass-word@tokens.example',
    'https://pass-word@tokens.example',
    'https://pass-word:@tokens.example',
    'https://someone:pass-word@x@tokens.example',
    'https://someone:pass-word%40%2F@tokens.example/api/@someone',
    'http://someone:pass-word@localhost',
    'http://someone:pass-word@tokens.example',
    'ftp://someone:pass-word@tokens.example',
    new URL('https://someone:pass-word@tokens.example'),
  ])('when it has a user or password, as %p, then it is rejected and neither is shown (F130)', (baseUrl) => {
    const error = refusedBase(baseUrl)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^baseUrl must /)
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/pass-word|someone:/)
  })

  it.each([
    'https://someone:pass-word@tokens.example:port/',
    'https://someone:pass-word@tokens.exa mple/',
    'https://someone:pass-word@',
    'someone:pass-word@tokens.example',
    '//someone:pass-word@tokens.example',
    'https://someone:pass-word/+base64@tokens.example',
    "https://someone:pass-word'quoted@tokens.exa mple",
    'https://someone:pass-word spaced@tokens.exa mple',
    'https://someone:pass-word#hash@tokens.example',
    'https://someone:pass-word?query@tokens.example',
  ])('when it has a password and is not a URL either, as %p, then the password is not shown (F130)', (baseUrl) => {
    const error = refusedBase(baseUrl)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).not.toContain('pass-word')
  })

  it.each([
    'http://tokens.example/api?key=pass-word',
    'http://tokens.example/api#pass-word',
    'http://tokens.example/api?to=x@pass-word',
    'ftp://tokens.example/api?to=x@pass-word#@pass-word',
    'https://tokens.exa mple/api?to=x@pass-word',
    'ftp://tokens.example/api?key=pass-word',
    new URL('http://tokens.example/api?key=pass-word#pass-word'),
  ])('when %p is rejected, then its query is not shown (F130)', (baseUrl) => {
    const error = refusedBase(baseUrl)
    expect(error.message).toMatch(/^baseUrl must be /)
    expect(error.message).not.toContain('pass-word')
  })

  it.each([
    'http://localhost',
    'http://localhost:8080/api',
    'http://LOCALHOST',
    'http://127.0.0.1',
    'http://127.0.0.1:8080',
    'http://127.255.255.254',
    'http://127.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]',
    'http://[::1]:8080/api',
    'http://[0:0:0:0:0:0:0:1]',
    'https://tokens.example',
    'HTTPS://tokens.example',
    'https://10.0.0.1:8443/api',
    'https://localhost',
  ])('when it is %s, then it may receive credentials', (baseUrl) => {
    const source = clientCredentials({ ...client, baseUrl })
    expect(source.origin).toBe(new URL(baseUrl).origin)
    expect(clientCredentials({ ...client, baseUrl: new URL(baseUrl) }).origin).toBe(source.origin)
  })

  const inTheClear = [
    'http://tokens.example',
    'http://tokens.example:8080/api',
    'http://10.0.0.1',
    'http://192.168.0.1',
    'http://tokens.localhost',
    'http://a.b.localhost:1',
    'http://0.0.0.0',
    'http://[::]',
    'http://[::2]',
    'http://[::ffff:127.0.0.1]',
    'http://128.0.0.1',
    'http://126.255.255.255',
    'http://127.0.0.1.evil.com',
    'http://127.0.0.1.evil.127',
    'http://localhost.evil.com',
    'http://localhost-evil.com',
    'http://evillocalhost',
    'http://notlocalhost.com',
    'http://local.host',
    'http://evil.com/?localhost',
    'http://evil.com/127.0.0.1',
    'http://evil.com#.localhost',
    'http://xn--lcalhost-n2a',
  ].filter((baseUrl) => URL.canParse(baseUrl))

  it.each(inTheClear)('when it is %s, then it is rejected: credentials would be sent unencrypted', (baseUrl) => {
    const error = refusedBase(baseUrl)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^baseUrl must be https, got .*http:.*; set allowInsecureHttp to send secrets/)
  })

  it.each(inTheClear)('when it is %s and the user allows it, then it is used', (baseUrl) => {
    const source = clientCredentials({ ...client, baseUrl, allowInsecureHttp: true })
    expect(source.origin).toBe(new URL(baseUrl).origin)
  })

  it.each([false, undefined])('when allowInsecureHttp is %s, then plain http is rejected', (allowInsecureHttp) => {
    expect(refusedBase('http://tokens.example', { allowInsecureHttp }).message).toMatch(/must be https/)
  })

  it.each(['true', 'false', 'no', 0, '', null, 1, {}])(
    'when allowInsecureHttp is %p, which is not a boolean, then a TypeError names it',
    (allowInsecureHttp) => {
      for (const baseUrl of ['http://tokens.example', 'https://tokens.example'])
        expect(refusedBase(baseUrl, { allowInsecureHttp }).message).toMatch(/^allowInsecureHttp must be true or false/)
    },
  )

  it('when allowInsecureHttp is true, then other schemes and passwords are rejected anyway', () => {
    const more = { allowInsecureHttp: true }
    expect(refusedBase('ftp://tokens.example', more).message).toMatch(/absolute http or https URL/)
    expect(refusedBase('http://u:p@tokens.example', more).message).toMatch(/must not carry a user or password/)
  })

  it('when the URL object changes later, then the source does not', () => {
    const baseUrl = new URL('https://tokens.example/api')
    const source = sourceAt(baseUrl)
    const { id } = source
    baseUrl.host = 'elsewhere.example'
    expect(source.origin).toBe('https://tokens.example')
    expect(source.id).toBe(id)
    expect(baseUrl.href).toBe('https://elsewhere.example/api')
  })
})

describe('given a transport', () => {
  it.each([null, 5, 'http', true, () => undefined])('when it is %p, then a TypeError names it', (transport) => {
    const error = refusedBase('https://tokens.example', { transport })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^transport must be an object, got /)
  })

  it.each([
    ...['maxRedirects', 'fetchOptions', 'method', 'url', 'data', 'responseType', 'validateStatus', 'signal', 'auth'],
    ...['baseURL', 'params', 'transformRequest', 'beforeRedirect', 'transport', 'httpagent', '__proto__'],
  ])('when it has a member %s, then a TypeError lists the members (F174)', (name) => {
    const transport = Object.defineProperty({}, name, { value: 'hidden-value', enumerable: true })
    const error = refusedBase('https://tokens.example', { transport })
    expect(error).toBeInstanceOf(TypeError)
    const names = 'adapter, headers, httpAgent, httpsAgent, proxy, socketPath, lookup'
    expect([`use ${names}`, "did you mean 'httpAgent'?", "did you mean 'proxy'?"]).toContain(
      error.message.replace(`transport: there is no '${name}', `, ''),
    )
  })

  it('when it has a timeout, then a TypeError names what limits a token request (F174)', () => {
    const error = refusedBase('https://tokens.example', { transport: { timeout: 5_000 } })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe(
      'transport has no timeout: exchangeTimeoutMs of createTokenManager limits a token request',
    )
  })

  it.each([5, null, [5], ['http', null], {}])(
    'when its adapter is %p, then a TypeError states what it may be',
    (adapter) => {
      const error = refusedBase('https://tokens.example', { transport: { adapter } })
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(/^transport\.adapter must be a function, or http, fetch or xhr, got /)
    },
  )

  it.each([5, null, 'X-Tenant: blue'])('when its headers are %p, then a TypeError names them', (headers) => {
    const error = refusedBase('https://tokens.example', { transport: { headers } })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^transport\.headers must be an object, got /)
  })

  it.each(['http', ['xhr', 'fetch'], () => Promise.reject(new Error('never'))])(
    'when its adapter is %p, then it is accepted',
    (adapter) => {
      expect(
        clientCredentials({ ...client, baseUrl: 'https://tokens.example', transport: { adapter } }).origin,
      ).toBeDefined()
    },
  )

  it.each([undefined, {}])('when it is %p, then the defaults apply', (transport) => {
    expect(clientCredentials({ ...client, baseUrl: 'https://tokens.example', transport }).origin).toBeDefined()
  })
})

describe('given the id of a source', () => {
  const idOf = (more: object) => clientCredentials({ ...client, baseUrl: 'https://tokens.example/api', ...more }).id

  it('when only the spelling differs, then it is the same', () => {
    const same = idOf({})
    expect(same).not.toBe('')
    for (const baseUrl of [
      'https://tokens.example/api/',
      'https://tokens.example//api',
      'HTTPS://TOKENS.example:443/api',
      'https://tokens.example/x/../api#top',
      new URL('https://tokens.example/api'),
    ])
      expect(idOf({ baseUrl })).toBe(same)
    expect(idOf({ clientSecret: 'another' })).toBe(same)
    expect(idOf({ transport: { headers: { 'X-Tenant': 'blue' } } })).toBe(same)
  })

  it('when service or account differ, then it differs', () => {
    const ids = [
      idOf({}),
      idOf({ clientId: 'another' }),
      idOf({ clientId: client.clientId.toUpperCase() }),
      idOf({ clientId: ` ${client.clientId}` }),
      idOf({ baseUrl: 'https://tokens.example' }),
      idOf({ baseUrl: 'https://tokens.example/API' }),
      idOf({ baseUrl: 'https://tokens.example:8443/api' }),
      idOf({ baseUrl: 'http://tokens.example/api', allowInsecureHttp: true }),
      idOf({ baseUrl: 'https://other.example/api' }),
      idOf({ baseUrl: 'https://tokens.example/api?tenant=1' }),
      idOf({ baseUrl: 'https://tokens.example/api?tenant=2' }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('when parts of the address move into the account, then it differs', () => {
    const first = idOf({ baseUrl: 'https://tokens.example/api', clientId: 'x y' })
    const second = idOf({ baseUrl: 'https://tokens.example/api/x', clientId: 'y' })
    const third = idOf({ baseUrl: 'https://tokens.example/api/%20x', clientId: 'y' })
    expect(new Set([first, second, third]).size).toBe(3)
  })
})

import { format, inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import { TokenError } from '../../src/core/errors.ts'
import { createTokenManager } from '../../src/create-token-manager.ts'
import { clientCredentials, type Client, type ClientCredentialsOptions } from '../../src/service/client-credentials.ts'
import type { ProvidedCredentials } from '../../src/service/credentials.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { client, failureOf, grantText, misuse, obtain, response, sourceAt } from './world.ts'

const baseUrl = 'https://tokens.example/api'

/** A source whose service records the credentials that it receives. */
function recording(given: object) {
  const sent: unknown[] = []
  const options = { baseUrl, transport: { adapter: sending(sent) }, ...given } as ClientCredentialsOptions
  return { source: clientCredentials(options), sent }
}

/** Responds to every request with a token, and records the attributes of the request in `sent`. */
const sending =
  (sent: unknown[]): AxiosAdapter =>
  async (config) => {
    sent.push((JSON.parse(config.data as string) as { data: { attributes: unknown } }).data.attributes)
    return response(config, grantText())
  }

const refused = (given: object) => misuse(() => recording(given))

const BAD_TEXT: [string, unknown][] = [
  ['missing', undefined],
  ['empty', ''],
  ['null', null],
  ['a number', 5],
  ['true', true],
  ['an object', { toString: () => 'hidden-value' }],
  ['a String object', new String('hidden-value')],
  ['bytes', Buffer.from('hidden-value')],
  ['a string with NUL', 'hidden-value\0'],
  ['NUL alone', '\0'],
  ['a string that ends in a line feed', 'hidden-value\n'],
  ['a string that ends in a Windows line break', 'hidden-value\r\n'],
  ['a string with a line feed in it', 'hidden\nhidden-value'],
  ['a line feed alone', '\n'],
  ['a string with a tab', 'hidden-value\t'],
  ['a string with an escape', '\u001b[0mhidden-value'],
  ['a string with DEL', 'hidden-value\u007f'],
  ['a string with a control character of Latin-1', 'hidden-value\u0085'],
  ['the string undefined', 'undefined'],
  ['the string null', 'null'],
  ['the string undefined and a line feed', 'undefined\n'],
  ['a string with a lone high surrogate', 'hidden-value\ud800'],
  ['a string with a lone low surrogate', '\udc00hidden-value'],
  ['a string with surrogates in the wrong order', 'hidden-value\udc00\ud800'],
]

describe('given fixed credentials', () => {
  it('when two tokens are obtained, then both requests carry them', async () => {
    const { source, sent } = recording(client)
    await obtain(source)
    await obtain(source)
    const expected = { client_id: client.clientId, client_secret: client.clientSecret }
    expect(sent).toEqual([expected, expected])
  })

  it('when the options change later, then the requests do not', async () => {
    const sent: unknown[] = []
    const options = { baseUrl, transport: { adapter: sending(sent) }, ...client }
    const source = clientCredentials(options)
    const { id } = source
    Object.assign(options, { clientId: 'changed', clientSecret: 'changed', baseUrl: 'https://elsewhere.example' })
    await obtain(source)
    expect(sent).toEqual([{ client_id: client.clientId, client_secret: client.clientSecret }])
    expect(source.id).toBe(id)
  })

  it.each(BAD_TEXT)('when either is %s, then a TypeError names it and not its value (F90, F91)', (_, value) => {
    for (const name of ['clientId', 'clientSecret']) {
      const error = refused({ ...client, [name]: value })
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(new RegExp(`^${name} must `))
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(
        /hidden-value|api-(key|secret)-of-nobody/,
      )
    }
  })

  it.each([
    '🗝️',
    ' ',
    '  spaced  ',
    'e\u0301',
    '"',
    'Undefined',
    'nullable',
    '\u00a0',
    '\u2028',
    '\u200b',
    'x'.repeat(200),
  ])('when they are %j, then they are sent unchanged (F90)', async (text) => {
    const { source, sent } = recording({ clientId: text, clientSecret: text })
    await obtain(source)
    expect(sent).toEqual([{ client_id: text, client_secret: text }])
  })
})

describe('given credentials that were damaged on their way', () => {
  it.each([
    ['hidden-value\n', /^clientSecret must have no line breaks .*: trim the newline of the file that it is read from$/],
    ['hidden-value\r\n', /^clientSecret must have no line breaks .*: trim the newline of the file/],
    [
      'undefined',
      /^clientSecret must be a credential, not the word undefined or null: is the environment variable set\?$/,
    ],
    ['null', /^clientSecret must be a credential, .*: is the environment variable set\?$/],
  ])('when the secret is %j, then the error names the remedy, at construction (F193)', (clientSecret, told) => {
    expect(refused({ ...client, clientSecret }).message).toMatch(told)
  })

  it.each(['hidden-value\n', 'undefined'])(
    'when a function returns %j, then no request is made and the error names the remedy (F193)',
    async (clientSecret) => {
      const { source, sent } = recording({ credentials: () => ({ ...client, clientSecret }) })
      const error = await failureOf(obtain(source))
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', retryable: false })
      expect(error.message).toMatch(/^The credentials function returned an unusable value: clientSecret must /)
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('hidden-value')
      expect(sent).toEqual([])
    },
  )
})

describe('given a function that provides credentials', () => {
  it.each<[string, (given: Client) => Client | Promise<Client>]>([
    ['at once', (given) => given],
    ['later', (given) => Promise.resolve(given)],
    ['as a thenable', (given) => ({ then: (resolve: (value: Client) => void) => resolve(given) }) as never],
  ])('when it returns %s, then it is called once per exchange', async (_, provide) => {
    let asked = 0
    const { source, sent } = recording({
      credentials: () => {
        asked += 1
        return provide({ clientId: `key-${asked}`, clientSecret: `secret-${asked}` })
      },
    })
    expect(asked).toBe(0)
    await obtain(source)
    await obtain(source)
    expect(asked).toBe(2)
    expect(sent).toEqual([
      { client_id: 'key-1', client_secret: 'secret-1' },
      { client_id: 'key-2', client_secret: 'secret-2' },
    ])
  })

  it('when reads of its result are counted, then each member is read once, and the result stays unchanged (F92)', async () => {
    const read: string[] = []
    const answer = new Proxy(Object.freeze({ ...client }), {
      get(target, name: keyof Client) {
        if (name in target) read.push(name)
        return Reflect.get(target, name)
      },
    })
    const { source } = recording({ credentials: () => answer })
    await obtain(source)
    expect(read).toEqual(['clientId', 'clientSecret'])
  })

  const failing: [string, () => unknown, object | undefined][] = [
    [
      'throws',
      () => {
        throw new Error('vault sealed')
      },
      { name: 'Error' },
    ],
    ['rejects', () => Promise.reject(new RangeError('vault sealed')), { name: 'RangeError' }],
    [
      'throws with a code',
      () => {
        throw Object.assign(new Error('no'), { code: 'EVAULT' })
      },
      { code: 'EVAULT' },
    ],
    [
      'throws a string',
      () => {
        throw 'vault sealed' as unknown as Error
      },
      { message: 'a thrown string' },
    ],
    [
      'throws nothing',
      () => {
        throw undefined as unknown as Error
      },
      undefined,
    ],
  ]

  it.each(failing)('when it %s, then nothing was sent and the cause is reported', async (_, credentials, cause) => {
    const { source, sent } = recording({ credentials })
    const error = await failureOf(obtain(source))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent', retryable: true })
    expect(error.message).toBe('The credentials function failed: no token request was sent')
    expect(sent).toEqual([])
    if (cause) expect(error.cause).toMatchObject(cause)
    else expect(error.cause).toBeUndefined()
  })

  it('when its error contains a request, then the cause does not', async () => {
    const thrown = Object.assign(new Error('request to the vault failed: hidden-value'), {
      name: 'VaultError',
      config: { headers: { 'X-Vault-Token': 'hidden-value' } },
      stack: 'VaultError: hidden-value',
      cause: new Error('hidden-value'),
    })
    const { source } = recording({ credentials: () => Promise.reject(thrown) })
    const error = await failureOf(obtain(source))
    expect(error.cause).toMatchObject({ name: 'VaultError' })
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('hidden-value')
  })

  it('when it throws a TokenError of another manager, then its code counts, but not its verdict on a refresh token (F255)', async () => {
    const verdict = { outcome: 'rejected', refreshToken: 'refused', loginReason: 'refused' } as const
    const thrown = new TokenError('ERR_LOGIN_REQUIRED', 'the vault wants a login', verdict)
    const error = await failureOf(obtain(recording({ credentials: () => Promise.reject(thrown) }).source))
    expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', message: 'the vault wants a login', outcome: 'not-sent' })
    expect(error).toMatchObject({ refreshToken: 'kept' })
    expect(error).not.toHaveProperty('loginReason')
  })

  it('when it never settles, then nothing was sent at the deadline, and the error names it (F255)', async () => {
    const clock = manualClock()
    const { source, sent } = recording({ credentials: () => new Promise<never>(() => undefined) })
    const tokens = createTokenManager({ source, clock, exchangeTimeoutMs: 700, retry: { maxAttempts: 1 } })
    const failure = failureOf(tokens.getAccessToken())
    await clock.advance(700)
    const error = await failure
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' })
    expect(error.message).toContain(
      'The credentials function returned nothing within 700 ms: no token request was sent',
    )
    expect(sent).toEqual([])
    await tokens.close()
  })

  it('when it failed once, then the next exchange calls it again', async () => {
    let asked = 0
    const credentials = () => {
      asked += 1
      return asked === 1 ? Promise.reject(new Error('sealed')) : client
    }
    const { source, sent } = recording({ credentials })
    await failureOf(obtain(source))
    await obtain(source)
    expect(sent).toHaveLength(1)
  })

  it.each([undefined, null, 5, 'hidden-value', true, [], {}])(
    'when it returns %p, then nothing was sent and the error shows no value',
    async (answer) => {
      const { source, sent } = recording({ credentials: () => answer })
      const error = await failureOf(obtain(source))
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', retryable: false })
      expect(sent).toEqual([])
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('hidden-value')
    },
  )

  it.each(BAD_TEXT)(
    'when a member of its result is %s, then the error names it and not its value',
    async (_, value) => {
      for (const name of ['clientId', 'clientSecret']) {
        const { source, sent } = recording({ credentials: () => ({ ...client, [name]: value }) })
        const error = await failureOf(obtain(source))
        expect(error.outcome).toBe('not-sent')
        expect(error.message).toContain(`: ${name} must `)
        expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(
          /hidden-value|api-(key|secret)-of-nobody/,
        )
        expect(sent).toEqual([])
      }
    },
  )

  it.each([
    { clientId: 'hidden-value' },
    { clientSecret: 'hidden-value' },
    { clientId: 'hidden-value', clientSecret: 'hidden-value' },
    { clientSecret: '' },
  ])('when there are fixed credentials too, then a TypeError reports it', (fixed) => {
    const error = refused({ credentials: () => client, ...fixed })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe('Give either credentials or clientId and clientSecret, not both')
  })

  it.each([5, true, {}, null])('when it is %p, then a TypeError names the type that it must have', (credentials) => {
    const error = refused({ credentials })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^credentials must be a function, got /)
  })

  it('when the secret itself is given instead, then the TypeError does not show it', () => {
    const error = refused({ credentials: 'hidden-value' })
    expect(error.message).toMatch(/^credentials must be a function, got /)
    expect(error.message).not.toContain('hidden-value')
  })

  it('when a string is given instead of the options, then it is not shown', () => {
    const error = misuse(() => clientCredentials((() => ({ clientSecret: 'hidden-value' })) as never))
    expect(error.message).toMatch(/^The options of clientCredentials must be an object, got /)
    expect(error.message).not.toContain('hidden-value')
  })
})

describe('given the account of a source', () => {
  const idWith = (given: Partial<ProvidedCredentials<Client>>) =>
    recording({ credentials: () => client, ...given }).source.id

  it('when credentials are provided without an account, then the id is empty, before and after an exchange', async () => {
    const { source } = recording({ credentials: () => client })
    expect(source.id).toBe('')
    await obtain(source)
    expect(source.id).toBe('')
    expect(idWith({ account: undefined })).toBe('')
  })

  it('when it is given, then the id tells accounts apart', () => {
    expect(idWith({ account: 'one' })).not.toBe('')
    expect(idWith({ account: 'one' })).toBe(idWith({ account: 'one' }))
    expect(idWith({ account: 'one' })).not.toBe(idWith({ account: 'two' }))
  })

  it('when it is the client id of a source with fixed credentials, then both share one id', () => {
    expect(idWith({ account: client.clientId })).toBe(recording(client).source.id)
  })

  it.each([5, null, true, {}, []])('when it is %p, then a TypeError names it', (account) => {
    const error = refused({ credentials: () => client, account })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^account must be a string, got /)
  })
})

describe('given a printed source', () => {
  const printed = (source: object) => [
    inspect(source, { depth: Infinity, showHidden: true }),
    inspect(source, { showProxy: true, showHidden: true }),
    inspect({ nested: [source] }, { depth: Infinity, showHidden: true }),
    inspect(Object.getOwnPropertyDescriptors(source), { depth: Infinity, showHidden: true }),
    format('%s %o %O %j', source, source, source, source),
    JSON.stringify(source),
    JSON.stringify({ ...source }),
    Object.prototype.toString.call(source),
  ]

  it('when it has fixed credentials, then neither is shown', () => {
    const text = printed(sourceAt(baseUrl)).join('\n')
    expect(text).not.toContain(client.clientId)
    expect(text).not.toContain(client.clientSecret)
  })

  it('when it has used those of a function, then neither is shown', async () => {
    const { source } = recording({ credentials: () => client, account: 'hidden-value' })
    await obtain(source)
    expect(printed(source).join('\n')).not.toMatch(/api-(key|secret)-of-nobody|hidden-value|issued-token/)
  })

  it('when it is cloned, then the clone contains nothing', () => {
    expect(structuredClone(sourceAt(baseUrl))).toEqual({})
  })
})

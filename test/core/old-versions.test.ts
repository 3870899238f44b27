import { describe, expect, it, jest } from '@jest/globals'
import axios from 'axios'
import { checkAxios } from '../../src/core/runtime.ts'
import { attachBearer, clientCredentials, createTokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'

const BASE_URL = 'https://payments.example.com'
const CLIENT = { clientId: 'a', clientSecret: 'b' }
const source = { id: 'a', obtain: () => Promise.resolve({ accessToken: 'a', accessLifetimeMs: 60_000 }) }

describe('given an axios that is too old', () => {
  it.each<[string, () => unknown]>([
    ['a source of the payment service is made', () => clientCredentials({ baseUrl: BASE_URL, ...CLIENT })],
    ['a source of an OAuth 2.0 server is made', () => oauth2({ tokenEndpoint: `${BASE_URL}/token`, ...CLIENT })],
    ['a manager is attached', () => attachBearer(axios.create({ baseURL: BASE_URL }), createTokenManager({ source }))],
  ])('when %s, then one sentence states what to install', (_, begin) => {
    expect(begin).not.toThrow()
    jest.replaceProperty(axios, 'VERSION', '1.17.9')
    expect(begin).toThrow(
      new TypeError('axios-evergreen needs axios 1.18 or newer, and this is 1.17.9: npm install axios@latest'),
    )
  })

  it.each(['0.28.1', '1.0.0', '1.9.0', '1.17.0-beta.1'])('when it is %s, then it is rejected', (version) => {
    expect(() => checkAxios({ VERSION: version })).toThrow(version)
  })

  it.each(['1.18.0', '1.21.1', '2.0.0-alpha.1', undefined, 'custom'])(
    'when it is %s, then it is accepted',
    (version) => {
      expect(() => checkAxios({ VERSION: version })).not.toThrow()
    },
  )

  it.each([undefined, null, () => undefined])('when a test has replaced it by %s, then that is accepted', (mock) => {
    expect(() => checkAxios(mock)).not.toThrow()
  })
})

describe('given a Node that is too old', () => {
  it('when a manager is created, then one sentence states what to install', () => {
    const old = Object.create(process, { versions: { value: { node: '18.20.8' } } }) as typeof process
    jest.replaceProperty(globalThis, 'process', old)
    expect(() => createTokenManager({ source })).toThrow(
      new TypeError('axios-evergreen needs Node 20.19, 22.12 or newer, and this is 18.20.8'),
    )
  })
})

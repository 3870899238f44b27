import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import type { TokenError } from '../../src/index.ts'
import { attachBearer, memoryStore } from '../../src/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { challengeOf, oauth2 } from '../../src/oauth2/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { failureOf } from '../axios/support/turns.ts'
import { response } from '../service/world.ts'
import { client, ENDPOINT, GRANT } from './world.ts'

const CLAIMS = '{"access_token":{"acrs":{"essential":true,"value":"c1-canary-claims"}}}'

/** A login whose refreshes the server rejects until the user acts. */
function world(body: object, options: object = {}) {
  let isRejected = true
  const source = oauth2({
    tokenEndpoint: ENDPOINT,
    ...client,
    grant: 'login',
    transport: {
      adapter: (config) => Promise.resolve(response(config, isRejected ? body : GRANT, isRejected ? 400 : 200)),
    },
  })
  const tokens = managerOf(source, { retry: { baseDelayMs: 0 }, ...options }) as LoginManager
  const logIn = (refreshToken: string) => tokens.adopt({ refreshToken })
  return { tokens, logIn, accept: () => (isRejected = false) }
}
const rejected = (more: object = {}) => ({ error: 'interaction_required', ...more })

describe.each<[string, () => object]>([
  ['no store', () => ({})],
  ['a memory store', () => ({ store: memoryStore(), storeKey: 'ada' })],
])('given a login with %s, whose refresh is rejected with claims (F409)', (_, options) => {
  it('when callers ask, then each finds the claims, until the next login (F409)', async () => {
    const { tokens, logIn, accept } = world(rejected({ claims: CLAIMS }), options())
    await logIn('r1')
    const expected = { error: 'interaction_required', claims: CLAIMS }
    const asked = () => failureOf<TokenError>(tokens.getAccessToken())
    const errors = [...(await Promise.all([asked(), asked()])), await asked()]
    const api = axios.create()
    attachBearer(api, tokens, { origins: ['https://api.example.com'] })
    errors.push(await failureOf(api.get('https://api.example.com/')))
    const fetched = withBearer(fetch, tokens, { origins: ['https://api.example.com'] })('https://api.example.com/')
    errors.push(await failureOf(fetched))
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'interaction' })
      expect(challengeOf(error)).toStrictEqual(expected)
      expect(challengeOf({ cause: error })).toStrictEqual(expected)
      expect(
        inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify([error, error.stack]),
      ).not.toContain('canary')
    }
    accept()
    await logIn('r2')
    await tokens.getAccessToken()
    await tokens.logout()
    expect(challengeOf(await asked())).toBeUndefined()
  })
})

describe('given a refresh that is rejected because the user must act', () => {
  it.each<[string, object, object]>([
    ['no claims', {}, {}],
    ['claims in base64', { claims: Buffer.from(CLAIMS).toString('base64') }, { claims: CLAIMS }],
    ['claims over 8 KiB', { claims: JSON.stringify({ id: 'x'.repeat(8_200) }) }, {}],
    ['claims that are no JSON', { claims: 'name email' }, {}],
  ])('when the response has %s, then the challenge says so (F409)', async (_, more, expected) => {
    const { tokens, logIn } = world(rejected(more))
    await logIn('r1')
    const error = await failureOf(tokens.getAccessToken())
    expect(challengeOf(error)).toStrictEqual({ error: 'interaction_required', ...expected })
  })

  it('when the response rejects the token for another reason, then its claims do not count (F409)', async () => {
    const { tokens, logIn } = world({ error: 'invalid_grant', claims: CLAIMS })
    await logIn('r1')
    expect(challengeOf(await failureOf(tokens.getAccessToken()))).toBeUndefined()
  })
})

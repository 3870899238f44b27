import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { existsSync, readFileSync } from 'node:fs'
import { MISTAKES } from '../scripts/llms/mistakes.mjs'
import { llmsText } from '../scripts/llms/text.mjs'
import { fromTokenResponse, oauth2 } from '../src/oauth2/index.ts'
import { attachBearer, clientCredentials, createTokenManager, memoryStore } from '../src/index.ts'
import { adviceOn } from '../tools/doctor/advice.ts'
import { TokenError } from '../src/core/errors.ts'
import { realProcess } from './support/real-process.ts'

const client = { clientId: 'nobody', clientSecret: 'a-secret-of-nobody' }
const server = { tokenEndpoint: 'https://id.example.com/token', ...client }
const wrong = (value: unknown) => value as never
const page = { status: 200, headers: { 'content-type': 'text/html' }, text: '<!doctype html>' }

/** @returns What the package prints without an error. */
async function warningOf(act: () => void): Promise<string> {
  const warned = new Promise<Error>((resolve) => realProcess.once('warning', resolve))
  act()
  return (await warned).message
}

const MADE: Record<string, () => unknown> = {
  'no-secret': () => oauth2({ ...server, clientSecret: wrong(undefined) }),
  option: () => oauth2(wrong({ ...server, scopes: ['a'] })),
  'default-header': () => {
    const api = axios.create({ baseURL: 'https://api.example.com', headers: { Authorization: 'Bearer mine' } })
    attachBearer(api, createTokenManager({ source: oauth2({ ...server, clientId: 'default-header' }) }))
  },
  'second-manager': () =>
    warningOf(() => {
      for (let n = 0; n < 2; n += 1) createTokenManager({ source: oauth2({ ...server, clientId: 'second-manager' }) })
    }),
  'no-account': () => createTokenManager({ source: oauth2({ ...server, grant: 'login' }), store: memoryStore() }),
  'undefined-account': () => oauth2({ ...server, grant: 'login', account: `user-${String(undefined)}` }),
  'fetch-response': () => fromTokenResponse(wrong(new Response('{}'))),
  http: () => oauth2({ ...server, tokenEndpoint: 'http://id.example.com/token' }),
  'payment-service': () => clientCredentials({ baseUrl: 'https://id.example.com/token', ...client }),
  'web-page': () => {
    const scene = { response: wrong(page), proxy: undefined, isOAuth: true, isReachable: false }
    return adviceOn(new TokenError('ERR_TOKEN_RESPONSE', 'It is HTML'), scene).join(' ')
  },
}

describe('given llms.txt', () => {
  const text = readFileSync('llms.txt', 'utf8')

  it('when it is compared with the pages, then it is current (node scripts/show-files.mjs writes it)', () => {
    expect(text).toBe(llmsText())
  })

  it('when its links are followed, then each leads to a file', () => {
    const links = Array.from(text.matchAll(/\]\(([^)#\s]+)/g), ([, link]) => link!)
    expect(links.length).toBeGreaterThan(40)
    expect(links.filter((link) => !existsSync(link))).toEqual([])
  })

  it('when its mistakes are counted, then there are ten', () => {
    expect(MISTAKES.map(({ name }) => name)).toEqual(Object.keys(MADE))
    expect(MISTAKES).toHaveLength(10)
  })

  it.each(MISTAKES)(
    'when the mistake $name is made, then the package or its doctor says so',
    async ({ name, says }) => {
      const said = await Promise.resolve()
        .then(MADE[name])
        .catch((error: unknown) => (error as Error).message)
      expect(said).toContain(says)
    },
  )
})

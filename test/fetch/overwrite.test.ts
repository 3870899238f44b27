import { describe, expect, it } from '@jest/globals'
import { withBearer } from '../../src/fetch/index.ts'
import { attachBearer } from '../../src/index.ts'
import axios from 'axios'
import { rejecting, startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'

const SHAPES: Record<string, (url: string) => [string | Request, RequestInit?]> = {
  'an object': (url) => [url, { headers: { authorization: 'Bearer key', 'x-a': '1' } }],
  'an object with two spellings': (url) => [
    url,
    { headers: { Authorization: 'Bearer key', AUTHORIZATION: 'Bearer old', 'x-a': '1' } },
  ],
  pairs: (url) => [
    url,
    {
      headers: [
        ['authorization', 'Bearer key'],
        ['x-a', '1'],
      ],
    },
  ],
  Headers: (url) => [url, { headers: new Headers({ authorization: 'Bearer key', 'x-a': '1' }) }],
  'those of a Request': (url) => [new Request(url, { headers: { authorization: 'Bearer key', 'x-a': '1' } })],
}

describe('given an SDK that always sets the header (F380)', () => {
  it.each(Object.keys(SHAPES))(
    'when its headers are %s, then the token replaces it, and the replay has the next one (F380)',
    async (shape) => {
      const server = await startApi(rejecting('token-1'))
      const { tokens, anomalies } = startTokens()
      const api = withBearer(fetch, tokens, { origins: [server.baseUrl], overwrite: true })
      const given = SHAPES[shape]!(`${server.baseUrl}/a`)
      expect((await api(...given)).status).toBe(200)
      expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
      expect(server.received.map(({ headers }) => headers['x-a'])).toEqual(['1', '1'])
      const kept = new Headers(given[0] instanceof Request ? given[0].headers : given[1]!.headers)
      expect([kept.get('authorization')?.startsWith('Bearer key'), anomalies]).toEqual([true, []])
    },
  )

  it('when the token is in another header, then that one is replaced, and Authorization stays (F380)', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const api = withBearer(fetch, tokens, {
      origins: [server.baseUrl],
      overwrite: true,
      header: 'X-Api-Key',
      scheme: '',
    })
    await api(server.baseUrl, { headers: { 'x-api-key': 'old', authorization: 'Basic dTpw' } })
    expect(server.received[0]!.headers).toMatchObject({ 'x-api-key': 'token-1', authorization: 'Basic dTpw' })
  })

  it('when the request is sent to another origin, then it keeps its header, and gets no token (F380)', async () => {
    const server = await startApi()
    const { tokens, minted } = startTokens()
    const api = withBearer(fetch, tokens, { origins: ['https://api.example.com'], overwrite: true })
    await api(server.baseUrl, { headers: { authorization: 'Bearer key' } })
    expect([server.bearers, minted.calls]).toEqual([['Bearer key'], 0])
  })

  it('when the option is absent or false, then the request is left unchanged (F380)', async () => {
    const server = await startApi()
    const { tokens, minted } = startTokens()
    for (const more of [{}, { overwrite: false }, { overwrite: undefined }])
      await withBearer(fetch, tokens, { origins: [server.baseUrl], ...more })(server.baseUrl, {
        headers: { authorization: 'Bearer key' },
      })
    expect([server.bearers, minted.calls]).toEqual([Array(3).fill('Bearer key'), 0])
  })

  it('when the option is not a boolean, or given to attachBearer, then a TypeError names it (F380)', () => {
    const { tokens } = startTokens()
    const origins = ['https://api.example.com']
    expect(() => withBearer(fetch, tokens, { origins, overwrite: 'yes' as never })).toThrow(
      /^overwrite must be true or false/,
    )
    expect(() => attachBearer(axios.create(), tokens, { origins, overwrite: true } as never)).toThrow(
      /there is no 'overwrite'/,
    )
  })
})

import { describe, expect, it } from '@jest/globals'
import { withBearer } from '../../src/fetch/index.ts'
import { TokenError } from '../../src/index.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf, until } from '../axios/support/turns.ts'

const origins = ['https://api.example.com']
const there = `${origins[0]}/x`

/** A fetch without a network, which responds with these statuses in turn, and records what arrived. */
function recording(...statuses: number[]) {
  const arrived: { readonly headers: Headers; readonly body: string }[] = []
  const inner = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    arrived.push({ headers: request.headers, body: await request.text() })
    return new Response('', { status: statuses.shift() ?? 200 })
  }
  return { inner, arrived }
}

describe('given a call that waits for a token', () => {
  it('when the caller changes the body and the headers during the wait, then the original ones are sent (F261)', async () => {
    const { tokens, minted } = startTokens()
    minted.hold()
    const { inner, arrived } = recording()
    const [body, list] = [new TextEncoder().encode('as called'), ['one']]
    const sent = withBearer(inner, tokens, { origins })(there, { method: 'POST', body, headers: { list } as never })
    body.fill(0)
    list.push('two')
    minted.release()
    await sent
    expect(arrived.map((one) => [one.body, one.headers.get('list')])).toEqual([['as called', 'one']])
  })

  it('when it was called with a Request that has a body, then that counts as used at once, as after fetch', async () => {
    const { tokens, minted } = startTokens()
    minted.hold()
    const { inner, arrived } = recording()
    const request = new Request(there, { method: 'POST', body: 'x' })
    const sent = withBearer(inner, tokens, { origins })(request)
    expect(request.bodyUsed).toBe(true)
    minted.release()
    await sent
    expect(arrived.map(({ body }) => body)).toEqual(['x'])
  })
})

describe('given a 401, after which another token is needed', () => {
  it('when the caller aborts, then the call ends with the reason, and not with the 401', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    minted.hold()
    const { inner, arrived } = recording(401)
    const controller = new AbortController()
    const sent = failureOf(withBearer(inner, tokens, { origins })(there, { signal: controller.signal }))
    await until(() => minted.calls === 2)
    const reason = new Error('enough')
    controller.abort(reason)
    expect([await sent, arrived.length]).toEqual([reason, 1])
    minted.release()
  })

  it('when no token can be obtained, then the 401 is returned', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'wrong'))
    const { inner, arrived } = recording(401)
    const { signal } = new AbortController()
    const { status } = await withBearer(inner, tokens, { origins })(there, { signal })
    expect([status, arrived.length]).toEqual([401, 1])
  })
})

describe('given a token in a header that a redirect to another origin would forward', () => {
  it.each([
    [undefined, 'manual'],
    ['follow', 'manual'],
    ['error', 'error'],
  ] as const)('when the caller passes redirect: %s, then fetch receives %s', async (redirect, reported) => {
    const { tokens } = startTokens()
    const seen: unknown[] = []
    const inner = (_: unknown, init?: RequestInit) => {
      seen.push(init?.redirect)
      return Promise.resolve(new Response(''))
    }
    const api = withBearer(inner as typeof fetch, tokens, { origins, header: 'X-Api-Token', scheme: '' })
    await api(there, redirect && { redirect })
    expect(seen).toEqual([reported])
  })
})

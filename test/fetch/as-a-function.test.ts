import { expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { withBearer } from '../../src/fetch/index.ts'

it('given the fetch of a browser, which must not be called as a method, when a request is sent, then it is called as a function', async () => {
  const receivers: unknown[] = []
  function strict(this: unknown): Promise<Response> {
    receivers.push(this)
    return Promise.resolve(new Response('ok'))
  }
  const obtain = () => Promise.resolve({ accessToken: 'one', accessLifetimeMs: 60_000 })
  const tokens = createTokenManager({ source: { id: 'own', obtain } })
  const send = withBearer(strict as typeof fetch, tokens, { origins: ['https://api.example.com'] })
  for (const init of [{}, { method: 'POST', body: 'x' }]) await send('https://api.example.com/', init)
  await send('https://elsewhere.example.com/')
  expect(receivers).toEqual([undefined, undefined, undefined])
  await tokens.close()
})

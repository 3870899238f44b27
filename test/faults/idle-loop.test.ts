import { expect, it } from '@jest/globals'
import { run, withChildren } from './support/child.ts'

withChildren()

it('given an otherwise idle process, when a timeout passes, then it takes effect at once (F28, F133)', async () => {
  const child = run(`
    const other = setTimeout(() => process.exit(), 25_000)
    const source = { id: 'a service without answers', obtain: () => new Promise(() => {}) }
    for (let n = 0; n < 10; n += 1) {
      const tokens = createTokenManager({ source, exchangeTimeoutMs: 10, retry: { maxAttempts: 1 } })
      await tokens.getAccessToken().catch(({ code }) => say(code))
    }
    clearTimeout(other)
  `)
  expect([await child.ended, child.complaints]).toEqual([0, ''])
  expect(child.lines).toEqual(Array.from({ length: 10 }, () => 'ERR_TOKEN_SERVICE_UNAVAILABLE'))
})

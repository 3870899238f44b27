import { afterEach, describe, expect, it } from '@jest/globals'
import { type SimulatedService, startTokenService } from '../../src/testing/index.ts'
import { run, withChildren } from '../faults/support/child.ts'

withChildren()

let service: SimulatedService
afterEach(() => service.close())

describe('given a script with a fresh token (P18)', () => {
  // Under the fetch adapter Node itself takes about as long as the promise allows, on a busy machine, with or without us.
  it.each([
    ['A', 'clientCredentials'],
    ['B', 'loginPassword'],
  ])('when its last response has come (Variant %s), then it ends within 200 ms', async (variant, source) => {
    service = await startTokenService()
    const { baseUrl, client, login } = service
    const options = { baseUrl, ...(variant === 'A' ? client : login) }
    const child = run(`
      const tokens = createTokenManager({ source: ${source}(${JSON.stringify(options)}), renewal: { keepWarm: 'always' } })
      tokens.on('renewed', () => {})
      const api = axios.create({ baseURL: ${JSON.stringify(baseUrl)} })
      attachBearer(api, tokens)
      await Promise.all(Array.from({ length: 20 }, (_, n) => api.get('/orders/' + n)))
      await tokens.renew()
      await api.get('/wallet', { signal: new AbortController().signal, timeout: 60_000 })
      const last = performance.now()
      process.on('exit', () => say(tokens.status().phase + ' ' + (performance.now() - last)))
    `)
    expect([await child.ended, child.complaints]).toEqual([0, ''])
    const [phase, ms] = child.lines[0]!.split(' ')
    expect(phase).toBe('fresh')
    expect(Number(ms)).toBeLessThanOrEqual(200)
  })
})

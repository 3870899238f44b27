import { afterEach, describe, expect, it } from '@jest/globals'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { run, withChildren } from '../faults/support/child.ts'

withChildren()

let service: SimulatedService
afterEach(() => service.close())

describe('given a script with a fresh token (P18)', () => {
  // The test measures no time, because that depends on the machine. A process without active handles ends in the same turn.
  it.each([
    ['A', 'clientCredentials'],
    ['B', 'loginPassword'],
  ])('when its last response has arrived (Variant %s), then nothing keeps it alive', async (variant, source) => {
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
      say('held by ' + await holders())
      process.on('exit', () => say('ended ' + tokens.status().phase))
    `)
    expect([await child.ended, child.complaints]).toEqual([0, ''])
    expect(child.lines).toEqual(['held by ', 'ended fresh'])
  })
})

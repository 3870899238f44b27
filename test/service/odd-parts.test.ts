import { describe, expect, it } from '@jest/globals'
import { createTokenManager, loginPassword } from '../../src/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { serve } from './world.ts'

describe('given Variant B, and a refresh whose response has another refresh token (F345)', () => {
  it.each<[string, (attributes: Record<string, unknown>) => void]>([
    ['no access token', (attributes) => delete attributes.access],
    ['an access token that has expired', (attributes) => (attributes.access_expired_at = '2020-01-01T00:00:00Z')],
    ['no readable expiry of it', (attributes) => (attributes.access_expired_at = 'soon')],
  ])('when it has %s, then the new one is presented next, and never the old one again', async (_, spoil) => {
    const service = await startTokenService()
    const presented: string[] = []
    const front = await serve((request, reply) => {
      const { body } = front.seen.at(-1)!
      const { attributes } = (JSON.parse(body) as { data: { attributes: Record<string, string> } }).data
      if (attributes.refresh !== undefined) presented.push(attributes.refresh)
      const headers = { 'Content-Type': 'application/vnd.api+json' }
      void fetch(new URL(request.url ?? '', service.baseUrl), { method: 'POST', headers, body }).then(
        async (answer) => {
          const document = (await answer.json()) as { data?: { attributes: object }; attributes?: object }
          if (presented.length === 1 && attributes.refresh !== undefined)
            spoil((document.data?.attributes ?? document.attributes) as Record<string, unknown>)
          reply.writeHead(answer.status, headers).end(JSON.stringify(document))
        },
      )
    })
    const source = loginPassword({ baseUrl: front.origin, ...service.login })
    const tokens = createTokenManager({ source, random: () => 0 })
    const suspicions: unknown[] = []
    tokens.on('suspicious', (event) => suspicions.push(event))
    await tokens.getAccessToken()
    await tokens.renew()
    await tokens.renew()
    expect(new Set(presented).size).toBe(presented.length)
    expect(presented.length).toBeGreaterThanOrEqual(2)
    expect([suspicions, service.count('obtain')]).toEqual([[], 1])
    await tokens.close()
    await service.close()
  })
})

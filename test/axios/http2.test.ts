import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosRequestConfig } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startTokens } from './support/tokens.ts'

describe('given axios over HTTP/2', () => {
  it('when twenty POSTs are rejected at once, then all share one renewal, every body is intact, and no token is printed', async () => {
    const bodies: string[] = []
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isGood = request.headers.authorization === 'Bearer token-2'
        if (isGood) bodies.push(Buffer.concat(chunks).toString())
        response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
        response.end('{}')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sessions = new Set<{ destroy(): void }>()
    server.on('session', (session) => sessions.add(session))
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter: 'http', baseURL, proxy: false, httpVersion: 2 } as AxiosRequestConfig)
    attachBearer(api, tokens)
    try {
      const given = Array.from({ length: 20 }, (_, n) => `"${n} ü"`)
      const responses = await Promise.all(given.map((body) => api.post('/x', body)))
      expect(responses.map(({ status }) => status)).toEqual(given.map(() => 200))
      expect([minted.calls, bodies.sort()]).toEqual([2, given.toSorted()])
      expect(inspect(responses[0], { depth: 6 })).not.toContain('token-2')
    } finally {
      for (const session of sessions) session.destroy()
      server.close()
    }
  })
})

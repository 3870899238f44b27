import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { createTokenManager } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { type SimulatedService, startTokenService } from '../../src/testing/index.ts'
import { fences } from '../support/document-code.ts'
import { MemoryRegister } from '../support/memory-register.ts'

let service: SimulatedService
afterEach(() => service.close())

interface Session {
  refreshToken?: string
}
const [code = ''] = fences('ts', readFileSync('docs/moving-logins.md', 'utf8'))
const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.CommonJS } })
const exported: { carryOver?: (session: Session, tokens: LoginManager) => Promise<void> } = {}
// eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- the code of our own page
new Function('exports', outputText)(exported)
const carryOver = exported.carryOver!

describe('given sessions of older code, and the guide for users who are already logged in', () => {
  it('when ten requests of each migrate its refresh token, at once and later, on three servers, then no login is lost, with one refresh each', async () => {
    service = await startTokenService()
    const register = new MemoryRegister()
    const encryptionKeys = [{ id: 'k', key: randomBytes(32) }]
    const stores = [1, 2, 3].map(() => sharedStore(register, { onUnavailable: 'fail', encryptionKeys }))
    const { tokenEndpoint, client } = service
    const served: boolean[] = []
    const request = async (n: number, person: number, refreshToken: string) => {
      const source = oauth2({ tokenEndpoint, ...client, grant: 'login' })
      const tokens = createTokenManager({ source, store: stores[n % 3]!, storeKey: `session-${person}` })
      tokens.on('anomaly', () => undefined)
      await carryOver({ refreshToken }, tokens)
      served.push(await tokens.getAccessToken().then(Boolean, () => false))
      await tokens.close()
    }
    for (let person = 0; person < 6; person += 1) {
      const { refreshToken } = await service.logIn()
      await Promise.all(Array.from({ length: 10 }, (_, n) => request(n, person, refreshToken)))
      for (const late of [0, 1, 2]) await request(late, person, refreshToken)
    }
    expect(served).toEqual(Array(6 * 13).fill(true))
    expect(service.log.filter(({ kind }) => kind === 'refresh')).toHaveLength(6)
  })
})

import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosAdapter } from 'axios'
import { dpopKey } from '../../src/dpop/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { attachBearer, type TokenManager } from '../../src/index.ts'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { gate } from '../axios/support/turns.ts'
import { externalKey } from '../dpop/support/keys.ts'
import { startLogins } from './support/logins.ts'

const url = 'https://api.example.com/transfer'
const origins = ['https://api.example.com']

/** Clients without a network, which record that they were called. */
const CLIENTS: Record<string, (tokens: TokenManager, dpop: DPoPKey, onSent: () => void) => () => Promise<unknown>> = {
  attachBearer(tokens, dpop, onSent) {
    const adapter: AxiosAdapter = (config) => {
      onSent()
      return Promise.resolve({ status: 200, statusText: '', headers: {}, data: '', config })
    }
    const api = axios.create({ adapter })
    attachBearer(api, tokens, { origins, dpop })
    return () => api.post(url)
  },
  withBearer(tokens, dpop, onSent) {
    const inner: (url: string, init?: RequestInit) => Promise<Response> = () => {
      onSent()
      return Promise.resolve(new Response())
    }
    const api = withBearer(inner, tokens, { origins, dpop })
    return () => api(url, { method: 'POST' })
  },
}

/** The proof of a request is ready; after so many microtasks the user logs out. @returns whether it was sent before and after that. */
async function loggedOutAfter(microtasks: number, open: (typeof CLIENTS)[string]) {
  const external = await externalKey()
  const signed = gate()
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  const key = dpopKey({
    publicJwk: external.publicJwk,
    sign: async (data) => {
      const signature = await external.sign(data)
      isAsked()
      await signed.opened
      return signature
    },
  })
  const logins = startLogins()
  logins.logIn('ALICE')
  let sent = 0
  const ended = open(logins.tokens, key, () => (sent += 1))().catch((error: unknown) => error)
  await asked
  signed.open()
  for (let n = 0; n < microtasks; n += 1) await Promise.resolve()
  const before = sent
  logins.logOut()
  return { before, error: await ended, after: sent - before }
}

describe.each(Object.keys(CLIENTS))('given %s, and a request whose proof is ready', (name) => {
  it('when the user logs out at any microtask before it is sent, then it is not sent (F364)', async () => {
    const open = CLIENTS[name]!
    const outcomes = []
    for (let n = 0; n < 40; n += 1) outcomes.push(await loggedOutAfter(n, open))
    expect(outcomes.map(({ after }) => after)).toEqual(outcomes.map(() => 0))
    for (const { before, error } of outcomes)
      if (before === 0) expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    // The last ones were sent before.
    expect([outcomes[0]!.before, outcomes.at(-1)!.before]).toEqual([0, 1])
  })
})

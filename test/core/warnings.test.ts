import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { warnOnce } from '../../src/core/runtime.ts'
import { attachBearer, type TokenManager } from '../../src/index.ts'
import { redisStore } from '../../src/redis/index.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { realProcess } from '../support/real-process.ts'
import { settle } from '../support/watched-clock.ts'

const warnings: (Error & { code?: string; detail?: string })[] = []
const record = (warning: Error) => void (warning.name === 'AxiosEvergreenWarning' && warnings.push(warning))
beforeEach(() => void realProcess.on('warning', record))
afterEach(() => {
  realProcess.off('warning', record)
  warnings.splice(0)
})

const ok = axios.create({ baseURL: 'https://api.example', adapter: async (config) => ({ ...OK, config }) })
const OK = { status: 200, statusText: '', headers: {}, data: '' }

/** Sends a request to an origin that has no attachment. */
async function sendElsewhere(tokens: TokenManager): Promise<void> {
  const attachment = attachBearer(ok, tokens)
  await ok.get('https://elsewhere.example/wallet')
  attachment.detach()
  await settle()
}

/** A store that cannot store: every command fails. */
const lost = () => redisStore({ client: { command: () => Promise.reject(new Error('hidden-value')) } })

// The order of the tests matters: a process warns once per kind, and jest gives each file a process of its own.
describe('given a mistake that a manager reports (F191)', () => {
  it('when there is a listener for anomalies, then there is no warning', async () => {
    const { tokens, observed } = manage()
    await sendElsewhere(tokens)
    expect([observed.anomaly.length, warnings]).toEqual([1, []])
  })

  it('when there is no listener, then the process emits one warning, with the remedy', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { tokens, clock } = manage(undefined, {}, undefined, { unheard: true })
      await sendElsewhere(tokens)
      await clock.advance(60_001)
      await sendElsewhere(tokens)
    }
    expect(warnings).toEqual([
      expect.objectContaining({
        code: 'origin-not-allowed',
        message:
          'A request to https://elsewhere.example went out without a token: only https://api.example may have it',
        detail: expect.stringMatching(/^Listen to the events of the token manager: docs\/renewal\.md/),
      }),
    ])
  })

  it('when a source returns seconds instead of milliseconds, then the process emits one warning (F383)', async () => {
    for (let n = 0; n < 2; n += 1) {
      const { tokens } = manage(new ScriptedSource({ lifetimeMs: 3_600 }), {}, undefined, { unheard: true })
      await tokens.getAccessToken()
      await settle()
    }
    expect(warnings).toMatchObject([{ code: 'unexpected-lifetime', message: expect.stringContaining('3600 ms') }])
  })

  it('when the runtime has no warnings, as in browsers, then the console reports it', async () => {
    const { process: own, console: shown } = globalThis
    const lines: string[] = []
    Object.assign(globalThis, { process: undefined, console: { warn: (line: string) => lines.push(line) } })
    try {
      warnOnce('in-a-browser', 'A request went out without a token')
      warnOnce('in-a-browser', 'A request went out without a token')
    } finally {
      Object.assign(globalThis, { process: own, console: shown })
    }
    expect(lines).toEqual([expect.stringMatching(/^axios-evergreen: A request .* token\nListen to the events/)])
  })

  it.each([
    ['no console', undefined],
    ['a console without warn', {}],
  ])('when the runtime has no warnings, and %s, then nothing is reported', (name, console) => {
    const { process: own, console: shown } = globalThis
    Object.assign(globalThis, { process: undefined, console })
    try {
      warnOnce(name, 'hidden-value')
    } finally {
      Object.assign(globalThis, { process: own, console: shown })
    }
    expect(warnings).toEqual([])
  })

  it('when the store has no keys, or is unavailable, and there is no listener, then each is reported once, without a secret', async () => {
    for (let n = 0; n < 2; n += 1) {
      const { tokens } = manage(undefined, { store: lost() }, undefined, { unheard: true })
      await tokens.getAccessToken()
    }
    await settle()
    expect(warnings.map(({ code, message }) => [code, message])).toEqual([
      ['tokens-unencrypted', 'Tokens are stored unencrypted: the store has no encryptionKeys'],
      ['store-unavailable', 'The shared token store is unavailable (the client failed)'],
    ])
  })

  it('when no user made a mistake, then there is only an event', async () => {
    const { clock, tokens } = manage(new ScriptedSource(), {}, undefined, { unheard: true })
    await tokens.getAccessToken()
    clock.stepWall(10_000)
    tokens.peekAccessToken()
    await settle()
    expect(warnings).toEqual([])
  })
})

import { describe, expect, it } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTokenManager } from '../../src/index.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const requests = new AsyncLocalStorage<{ readonly url: string }>()
/** @returns The URL of the current context, or `none`. */
const where = () => requests.getStore()?.url ?? 'none'

/** A manager created in the context `start`. `ran` records what ran in which context. */
function world() {
  const ran: string[] = []
  const source = new ScriptedSource()
  const obtain = source.obtain.bind(source)
  source.obtain = (context) => {
    ran.push(`obtain ${where()}`)
    return obtain(context)
  }
  const made = requests.run({ url: 'start' }, () => manage(source))
  for (const name of ['renewed', 'retry', 'renewalFailed'] as const)
    made.tokens.on(name, () => ran.push(`${name} ${where()}`))
  return { ...made, ran }
}

describe('given requests with their own context (AsyncLocalStorage)', () => {
  it('when one of them starts a renewal, then the renewal runs in the context of the manager, and so do later ones (F167)', async () => {
    const { clock, source, tokens, ran } = world()
    source.script.push(failing(503))
    const waiting = requests.run({ url: '/first' }, async () => [await tokens.getAccessToken(), where()])
    await clock.advance(250)
    // The request continues in its own context.
    expect(await waiting).toEqual(['access-1', '/first'])
    await clock.advance(45_000)
    await requests.run({ url: '/forced' }, () => tokens.renew())
    const behind = requests.run({ url: '/refused' }, () => outcome(tokens.replaceAccessToken('access-3')))
    await behind
    await settle()
    expect(new Set(ran)).toEqual(new Set(['obtain start', 'retry start', 'renewed start']))
    expect(ran.filter((what) => what.startsWith('obtain'))).toHaveLength(5)
  })

  it('when the renewal is over, then nothing keeps the context of the request alive (F167)', async () => {
    // With real timers, because they keep the context in which they were set.
    const tokens = createTokenManager({ source: new ScriptedSource({ pairs: true }) })
    const collected: string[] = []
    const registry = new FinalizationRegistry((context: string) => collected.push(context))
    await requests.run(registered(registry), () => tokens.getAccessToken())
    for (let turn = 0; collected.length === 0 && turn < 1_000; turn += 1) {
      collectGarbage()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(collected).toEqual(['context'])
    await tokens.close()
  })
})

function registered(registry: FinalizationRegistry<string>): { readonly url: string } {
  const context = { url: '/first' }
  registry.register(context, 'context')
  return context
}

describe('given a runtime without asynchronous contexts', () => {
  it.each([
    ['no process, as in browsers', undefined],
    ['a process without built-in modules, as from a bundler', {}],
  ])('when it has %s, then a renewal works anyway', async (_, process) => {
    const own = globalThis.process
    Object.assign(globalThis, { process })
    try {
      const { tokens } = manage(new ScriptedSource())
      expect(await tokens.getAccessToken()).toBe('access-1')
    } finally {
      Object.assign(globalThis, { process: own })
    }
  })
})

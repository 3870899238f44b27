import { describe, expect, it } from '@jest/globals'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import type { TokenManagerOptions } from '../../src/index.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { person } from '../../src/login/index.ts'

/** Records its steps together with the calls of the service and the events. */
class NotingRegister extends MemoryRegister {
  readonly steps: string[] = []

  override read(...what: Parameters<MemoryRegister['read']>) {
    this.steps.push('read')
    return super.read(...what)
  }

  override replace(...what: Parameters<MemoryRegister['replace']>) {
    this.steps.push('replace')
    return super.replace(...what)
  }
}

class LoginSource extends ScriptedSource {
  readonly login = person
}

async function refusing(source: ScriptedSource, options: Partial<TokenManagerOptions> = {}) {
  const clock = manualClock()
  const register = new NotingRegister(clock)
  const store = sharedStore(register)
  const world = manage(source, { store, renewal: { keepWarm: 'never' }, ...options }, clock)
  const pair = { accessToken: 'first', accessLifetimeMs: 60_000, refreshToken: 'refresh-0' }
  await world.tokens.adopt({ ...pair, refreshLifetimeMs: 3_600_000 })
  await clock.advance(1)
  register.steps.length = 0
  world.tokens.on('suspicious', () => void register.steps.push('suspicious'))
  source.script.push((call) => {
    register.steps.push('refused')
    return failing(401)(call)
  })
  await outcome(world.tokens.renew())
  return { ...world, steps: register.steps }
}

describe('given a refresh token that is rejected', () => {
  it.each<[string, ScriptedSource, Partial<TokenManagerOptions>]>([
    ['the manager stops', new ScriptedSource({ pairs: true }), { onSuspicious: 'stop' }],
    ['a user must log in', new LoginSource({ pairs: true }), {}],
    ['the credentials follow later', new ScriptedSource({ pairs: true }), { retry: { maxAttempts: 1 } }],
  ])('when %s, then the store is updated in one step (F304)', async (_, source, options) => {
    const { steps, observed, source: asked } = await refusing(source, options)
    expect(steps).toEqual(['read', 'replace', 'refused', 'replace', 'suspicious'])
    expect([asked.calls.length, observed.suspicious.length]).toEqual([1, 1])
  })
})

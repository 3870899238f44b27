import { describe, expect, it } from '@jest/globals'
import { internalsOf, type ManagerInternals } from '../../src/core/manager-internals.ts'
import { TokenError } from '../../src/index.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

/** What attachments see of a manager with a token of 60 s. */
async function start(source = new ScriptedSource()) {
  const clock = watchedClock()
  const world = manage(source, { renewal: { keepWarm: 'never' } }, clock)
  await world.tokens.getAccessToken()
  return { ...world, clock, internals: internalsOf(world.tokens) as Required<ManagerInternals> }
}

describe('given a token that was handed out, when it is about to be sent', () => {
  it('then it has expired only if it is the current one and its lifetime is over (F127)', async () => {
    const { clock, tokens, internals } = await start()
    const ended = () => ['access-1', 'another'].map((token) => internals.hasEnded(token))
    expect(ended()).toEqual([false, false])
    await clock.advance(60_000)
    expect(ended()).toEqual([true, false])
    await tokens.getAccessToken()
    expect(ended()).toEqual([false, false])
    await tokens.reset()
    expect(ended()).toEqual([false, false])
  })
})

describe('given a token that the API rejected, when it must be replaced for later requests', () => {
  it('then a renewal begins without a waiting caller, and keeps no process alive', async () => {
    const { clock, source, tokens, internals } = await start()
    source.script.push(failing(503), () => source.grant())
    internals.renewInBackground('access-1')
    await settle()
    expect([source.kinds, clock.holding]).toEqual(['obtain obtain', 0])
    await clock.advance(250)
    expect(tokens.peekAccessToken()).toBe('access-2')
  })

  it('then nothing begins for a token that is not the current one', async () => {
    const { source, internals } = await start()
    internals.renewInBackground('another')
    await settle()
    expect(source.kinds).toBe('obtain')
  })

  it('then nothing begins shortly after the last renewal, or in a cool-down', async () => {
    const { clock, source, tokens, internals } = await start()
    internals.renewInBackground('access-1')
    await settle()
    internals.renewInBackground('access-2')
    await settle()
    expect(source.kinds).toBe('obtain obtain')
    await clock.advance(10_000)
    source.script.push(failing(400))
    expect(await outcome(tokens.replaceAccessToken('access-2'))).toBeInstanceOf(TokenError)
    internals.renewInBackground('access-2')
    await settle()
    expect(source.kinds).toBe('obtain obtain obtain')
  })
})

it('given a manager, when a login ends, then requests before and after it have different login generations (R10)', async () => {
  const { tokens, internals } = await start()
  const before = internals.currentGeneration()
  expect([internals.currentGeneration(), before >= internals.firstGeneration()]).toEqual([before, true])
  await tokens.reset()
  expect([before >= internals.firstGeneration(), internals.currentGeneration() >= internals.firstGeneration()]).toEqual(
    [false, true],
  )
})

it('given an instrumented manager, when it is instrumented again, then that is rejected until the first one stops', async () => {
  const { internals } = await start()
  const watcher = {} as Parameters<typeof internals.watch>[0]
  const stop = internals.watch(watcher)
  expect(() => internals.watch(watcher)).toThrow(
    new TypeError('The token manager is already instrumented: first call what instrument() returned'),
  )
  stop()
  const stopNext = internals.watch({ ...watcher })
  // The first `stop` no longer applies.
  stop()
  expect(() => internals.watch(watcher)).toThrow(TypeError)
  stopNext()
  expect(internals.watch(watcher)).toBeInstanceOf(Function)
})

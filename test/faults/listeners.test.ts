import { describe, expect, it } from '@jest/globals'
import type { TokenEvents, TokenManager } from '../../src/index.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

type Name = Exclude<keyof TokenEvents, 'storeUnavailable'>
const EVENTS: Name[] = ['renewed', 'retry', 'renewalFailed', 'suspicious', 'suspicionSettled', 'anomaly']

const CALLS: [string, (tokens: TokenManager) => Promise<unknown>][] = [
  ['getAccessToken()', (tokens) => tokens.getAccessToken()],
  ['renew()', (tokens) => tokens.renew()],
  ['reset()', (tokens) => tokens.reset()],
  ['close()', (tokens) => tokens.close()],
]

/** A manager with a token set, and a `run` in which the manager emits every event. */
function eventful(listen: (tokens: TokenManager) => void) {
  const world = manage(new ScriptedSource({ pairs: true }), { retry: { maxAttempts: 2 } })
  const { clock, source, tokens } = world
  listen(tokens)
  return {
    ...world,
    /** @returns The results of the callers during the run. */
    run: async (): Promise<unknown[]> => {
      const got = [outcome(tokens.getAccessToken())]
      source.script.push(() => source.grant(), failing(401), failing(500), failing(500))
      for (let second = 0; second < 120; second += 10) {
        got.push(outcome(tokens.getAccessToken()))
        if (second === 20) clock.stepWall(3_000)
        await clock.advance(10_000)
      }
      await settle()
      return Promise.all(got)
    },
  }
}

describe.each(EVENTS)('given a listener of %s', (name) => {
  it('when the run provokes every event, then it is called', async () => {
    const { run, observed } = eventful(() => undefined)
    await run()
    expect(observed[name].length).toBeGreaterThan(0)
  })

  it.each(CALLS)('when it calls %s and awaits that, then there is no deadlock (F101)', async (_, call) => {
    const ends: unknown[] = []
    const { run, source, tokens, clock } = eventful((asked) => {
      // Only once, because each of these calls may emit the same event again.
      const off = asked.on(name, async () => {
        off()
        ends.push(await outcome(call(asked)))
      })
    })
    const got = await run()
    expect(ends).toHaveLength(1)
    // Every caller has a result. The manager still works, or is closed.
    expect(got).toHaveLength(13)
    source.script.length = 0
    await clock.advance(60_000)
    const after = outcome(tokens.getAccessToken())
    await clock.advance(1_000)
    if (tokens.status().phase === 'closed') expect(await after).toMatchObject({ code: 'ERR_CLOSED' })
    else expect(await after).toMatch(/^access-/)
  })

  const BAD: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('of the listener')
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the listener'))],
    ['never ends', () => new Promise(() => undefined)],
    ['mutates the event', (event?: object) => Reflect.set(event ?? {}, 'by', 'me')],
  ]
  it.each(BAD)(
    'when it %s, then callers get the same results, and other listeners receive every event (F102)',
    async (_, listen) => {
      const calm = eventful(() => undefined)
      const got = await calm.run()
      const troubled = eventful((tokens) => tokens.on(name, listen))
      expect((await troubled.run()).map(String)).toEqual(got.map(String))
      expect(troubled.observed).toEqual(calm.observed)
      expect(troubled.source.kinds).toBe(calm.source.kinds)
    },
  )
})

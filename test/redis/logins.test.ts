import { expect, it } from '@jest/globals'
import { redisStore } from '../../src/redis/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { World } from './world.ts'
import { person } from '../../src/login/index.ts'

class LoginSource extends ScriptedSource {
  readonly login = person
}

describeRedis('given fifty logins in a Redis that keeps all writes (AOF)', () => {
  const world = new World()

  it('when it restarts, then none of them is lost (F198)', async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    const { clock } = world
    const client = await world.connect(server.url)
    const send = (args: string[]) => client.sendCommand(args)
    const store = redisStore({ client: onClock(send, clock), commandTimeoutMs: 60_000 })
    const people = Array.from({ length: 50 }, (_, n) =>
      manage(
        new LoginSource({ pairs: true }),
        { store, storeKey: `person ${n}`, renewal: { keepWarm: 'never' } },
        clock as never,
      ),
    )
    await Promise.all(
      people.map(({ tokens }, n) =>
        tokens.adopt({ accessToken: `a${n}`, accessLifetimeMs: 60_000, refreshToken: `r${n}` }),
      ),
    )
    await server.kill()
    await server.restart()
    await clock.advance(61_000)
    // The virtual clock has not moved that of the server, which has run only for a moment: others could still write back what they have seen (F349).
    const waits = await Promise.all(people.map(({ tokens }) => outcome(tokens.getAccessToken())))
    expect(waits).toEqual(Array(50).fill(expect.objectContaining({ code: 'ERR_STORE_UNAVAILABLE' })))
    await clock.advance(32_000)
    const ends = await Promise.all(people.map(({ tokens }) => outcome(tokens.getAccessToken())))
    expect(ends).toEqual(Array(50).fill('access-1'))
    expect(people.map(({ source }) => source.calls.map(({ refreshToken }) => refreshToken))).toEqual(
      people.map((_, n) => [`r${n}`]),
    )
    expect(people.flatMap(({ observed }) => observed.suspicious)).toEqual([])
    await server.stop()
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { startTokenService } from '../../tools/testing/index.ts'
import { describeRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { type Child, run, withChildren } from './support/child.ts'
import { type HeldAnswers, holdAnswer } from './support/held-responses.ts'

withChildren()

/** The limit of the function, and that of a token request: half of it, more than the third that docs/serverless.md advises. */
const LIMIT_MS = 6_000
const EXCHANGE_MS = LIMIT_MS / 2

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

let redis: RedisServer | undefined
let prefixes = 0

/** A process of the function. It waits for a token no longer than the page promises. */
function start(service: { baseUrl: string; client: object }, baseUrl: string, prefix: string): Child {
  return run(`
    const { createClient } = await import('redis')
    const url = ${JSON.stringify(redis?.url ?? null)}
    const store = url && evergreen.redisStore({ client: await createClient({ url }).connect(), prefix: '${prefix}' })
    const tokens = createTokenManager({
      source: clientCredentials({ baseUrl: ${JSON.stringify(baseUrl)}, ...${JSON.stringify(service.client)} }),
      storeKey: 'function',
      exchangeTimeoutMs: ${EXCHANGE_MS},
      renewal: { background: false, maxWaitMs: ${LIMIT_MS + EXCHANGE_MS} },
      ...(store && { store }),
    })
    const api = axios.create({ baseURL: ${JSON.stringify(service.baseUrl)} })
    attachBearer(api, tokens)
    const ask = () => api.get('/orders').then(({ config }) => config.headers.Authorization)
    const work = {
      ask,
      // Its first request adopts the token of another process. The next one comes when that is due, and waits for the new one.
      askWhenDue: async () => {
        await ask()
        while (tokens.status().phase === 'fresh') await new Promise((resolve) => setTimeout(resolve, 20))
        await ask()
      },
      renew: () => tokens.renew(),
    }
    for (const [name, act] of Object.entries(work))
      process.on('heard ' + name, () => act().then(() => say(name + ': done'), (error) => say(name + ': ' + error.message)))
    say('ready')
    await heard('end')
  `)
}

/** @returns How it ended. */
function ended(child: Child, name: string): Promise<string> {
  child.tell(name)
  return child.said(`${name}: `)
}

type Stage = 'cold' | 'forced' | 'due'

/** One process is stopped during a token request. @returns how the next requests of the others ended, and of that process after it resumes. */
async function stopped(stage: Stage, accessLifetimeMs: number, signal: 'SIGSTOP' | 'SIGKILL'): Promise<string[]> {
  const service = await startTokenService({ accessLifetimeMs })
  const between: HeldAnswers = await holdAnswer(service.baseUrl, '/token/')
  endings.push(() => service.close())
  const prefix = `p${(prefixes += 1)}`
  const victim = start(service, between.baseUrl, prefix)
  const others = [1, 2].map(() => start(service, service.baseUrl, prefix))
  await Promise.all([victim, ...others].map((child) => child.said('ready')))
  if (stage !== 'cold') await ended(others[0]!, 'renew')
  victim.tell({ cold: 'ask', forced: 'renew', due: 'askWhenDue' }[stage])
  await between.holding
  victim.signal(signal)
  const served = await Promise.all(others.map((other) => ended(other, 'ask')))
  between.release()
  victim.signal('SIGCONT')
  // Its wait may have ended by then. Its next one starts over.
  return signal === 'SIGKILL' ? served : [...served, await ended(victim, stage === 'cold' ? 'renew' : 'ask')]
}

describe.each(['SIGSTOP', 'SIGKILL'] as const)('given a function that receives %s during a token request', (signal) => {
  describeRedis('and shares its token through Redis', () => {
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(async () => {
      await redis?.stop()
      redis = undefined
    })

    it('F312: when other processes need a token, then none waits longer than the limit of the function and one token request', async () => {
      const cold = [8_000, 60_000, 3_600_000].map((ms) => stopped('cold', ms, signal))
      const forced = [8_000, 60_000, 3_600_000].map((ms) => stopped('forced', ms, signal))
      const due = stopped('due', 8_000, signal)
      const served = await Promise.all([...cold, ...forced, due])
      expect(served.flat().filter((end) => end !== 'done')).toEqual([])
    })
  })

  it('F312: when it has no store, then other processes are not affected', async () => {
    const served = await Promise.all([8_000, 60_000, 3_600_000].map((ms) => stopped('cold', ms, signal)))
    expect(served.flat().filter((end) => end !== 'done')).toEqual([])
  })
})

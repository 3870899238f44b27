import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { generateKeyPairSync } from 'node:crypto'
import { resolve } from 'node:path'
import { startRedis } from '../support/redis-server.ts'
import { buildPackage, type BuiltPackage } from '../support/built-package.ts'
import { part } from '../support/part.ts'
import { nodeWithSqlite } from '../support/node-sqlite.ts'
import { startFleet } from './fleet.mjs'

const node = nodeWithSqlite()
const hasRedis = process.env.TEST_REDIS === 'own'
type Fleet = Awaited<ReturnType<typeof startFleet>>

const COUNT = part(8, 4)

describe(`given ${COUNT} processes of one machine, one login, and a server that rotates and detects reuse`, () => {
  let built: BuiltPackage
  let fleet: Fleet
  beforeAll(async () => {
    built = await buildPackage()
  })
  afterAll(() => built.remove())
  afterEach(() => fleet.close())

  type How = Partial<Parameters<typeof startFleet>[0]>
  const startWithoutLogin = async (how: How = {}) => {
    const dist = resolve(built.dir, 'node_modules/axios-evergreen/dist')
    fleet = await startFleet({ node: node ?? process.execPath, dist, ...how })
    return fleet
  }
  const start = async (how: How = {}) => {
    await startWithoutLogin(how)
    expect(await fleet.logIn()).toBe('said you')
    return fleet
  }
  const onRedis = async (run: (how: How) => Promise<void>) => {
    const server = await startRedis()
    try {
      await run({ redis: server.url })
    } finally {
      await server.stop()
    }
  }
  const expectOneRefresh = async (fleet: Fleet) => {
    const { counts } = fleet.world
    expect(await fleet.callAtOnce(COUNT)).toEqual(Array(COUNT).fill('said you'))
    expect(counts).toMatchObject({ refreshes: 1, reuses: 0, codes: 1 })
    expect(await fleet.callAtOnce(1)).toEqual(['said you'])
    expect(counts).toMatchObject({ refreshes: 2, reuses: 0, codes: 1 })
  }

  ;(node ? it : it.skip)(
    'when they share a file of SQLite, then one of them refreshes, and all are served (F315)',
    async () => {
      await expectOneRefresh(await start())
    },
  )

  ;(hasRedis ? it : it.skip)('when they share Redis, then one of them refreshes, and all are served (F315)', () =>
    onRedis(async (how) => expectOneRefresh(await start(how))),
  )

  /** There is no login, and all send a request at once. The user confirms when each of them has got its 401. */
  const expectOnePage = async ({ agents, world }: Fleet) => {
    const asking = await agents(COUNT, { asksPerson: true })
    let refused = 0
    const allRefused = new Promise<void>((resolve) => {
      world.control.onRefused = () => (refused += 1) === COUNT && resolve()
    })
    const said = asking.map((one) => one.call())
    const opener = await Promise.race(asking.map((one) => one.opened().then(() => one)))
    await allRefused
    opener.agree()
    expect((await Promise.all(said)).sort()).toEqual(['page said you', ...Array<string>(COUNT - 1).fill('said you')])
    expect(world.counts).toMatchObject({ registrations: 1, codes: 1, refreshes: 0 })
  }

  ;(node ? it : it.skip)(
    'when nobody has logged in, and they share a file of SQLite, then one page opens, and all are served after it (F322)',
    async () => expectOnePage(await startWithoutLogin()),
  )

  ;(hasRedis ? it : it.skip)(
    'when nobody has logged in, and they share Redis, then one page opens, and all are served after it (F322)',
    () => onRedis(async (how) => expectOnePage(await startWithoutLogin(how))),
  )

  /** An attempt without a page counts for five seconds. */
  const expectNextPage = async ({ agent, agents, world }: Fleet) => {
    const victim = await agent({ asksPerson: true })
    world.control.onMetadata = () => {
      world.control.onMetadata = undefined
      victim.kill()
    }
    await victim.call()
    const others = await agents(2, { asksPerson: true })
    const said = others.map((one) => one.call())
    const opener = await Promise.race(others.map((one) => one.opened().then(() => one)))
    opener.agree()
    expect((await Promise.all(said)).sort()).toEqual(['page said you', 'said you'])
  }

  ;(node ? it : it.skip)(
    'when the process that asks for the page is killed, and they share a file of SQLite, then another one opens its page (F395)',
    async () => expectNextPage(await startWithoutLogin()),
  )

  ;(hasRedis ? it : it.skip)(
    'when the process that asks for the page is killed, and they share Redis, then another one opens its page (F395)',
    () => onRedis(async (how) => expectNextPage(await startWithoutLogin(how))),
  )

  const sqlite = node ? it : it.skip
  describe('when other hosts run in these processes, and they share a SQLite file', () => {
    sqlite.each(['ai-sdk', 'client-2'])(
      'then %s logs in once, and its processes are served with one refresh',
      async (host) => {
        const { agent, agents, world } = await startWithoutLogin()
        const first = await agent({ host, asksPerson: true })
        const said = first.call()
        await first.opened()
        first.agree()
        expect(await said).toBe('page said you')
        const all = await agents(COUNT, { host })
        world.expireAccess()
        expect(await Promise.all(all.map((one) => one.call()))).toEqual(Array(COUNT).fill('said you'))
        expect(world.counts).toMatchObject({ codes: 1, refreshes: 1, reuses: 0 })
      },
    )

    sqlite(
      'then @langchain/mcp-adapters, which takes no fetch, logs in once, and its processes are served (F396)',
      async () => {
        const { agent, agents, world } = await startWithoutLogin()
        const first = await agent({ host: 'langchain', asksPerson: true })
        const said = first.call()
        await first.opened()
        first.agree()
        expect(await said).toBe('page said you')
        const all = await agents(COUNT, { host: 'langchain' })
        expect(await Promise.all(all.map((one) => one.call()))).toEqual(Array(COUNT).fill('said you'))
        expect(world.counts).toMatchObject({ codes: 1, refreshes: 0 })
      },
    )

    sqlite.each(['sdk-1', 'client-2'])(
      'then PrivateKeyJwtProvider of %s serves them with one token request',
      async (host) => {
        const { agents, world } = await startWithoutLogin()
        const { publicKey, privateKey } = generateKeyPairSync('ec', {
          namedCurve: 'P-256',
          publicKeyEncoding: { type: 'spki', format: 'pem' },
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        })
        world.control.authMethods = ['private_key_jwt']
        world.register({ client_id: 'robot', key: publicKey })
        const robot = { clientId: 'robot', privateKey, algorithm: 'ES256', expectedIssuer: world.issuer }
        const all = await agents(COUNT, { host, robot })
        expect(await Promise.all(all.map((one) => one.call()))).toEqual(Array(COUNT).fill('said you'))
        expect(world.counts.codes).toBe(1)
      },
    )
  })

  /** A round for each stage. All 50: `MCP_ROUNDS=50 npx jest --config scripts/tests/slow.config.mjs test/mcp/processes`. */
  const rounds = Number(process.env.MCP_ROUNDS ?? 3)
  const STAGES = ['onRefused', 'beforeRefresh', 'onServed'] as const

  /** Kills a process when it has reached the stage. */
  const killAt = async (stage: (typeof STAGES)[number]) => {
    const { control } = fleet.world
    const victim = await fleet.agent()
    fleet.world.expireAccess()
    control[stage] = () => {
      control[stage] = undefined
      victim.kill()
    }
    const printed = await victim.call()
    expect([control[stage], printed]).toEqual([undefined, ''])
  }
  const expectLoginLives = async (fleet: Fleet) => {
    let refreshes = 0
    for (let round = 0; round < rounds; round += 1) {
      const stage = STAGES[round % STAGES.length]!
      await killAt(stage)
      expect(await fleet.callAtOnce(2)).toEqual(['said you', 'said you'])
      // One for each expired access token: the one that the victim got is its own.
      refreshes += stage === 'onServed' ? 2 : 1
      expect(fleet.world.counts).toMatchObject({ refreshes, reuses: 0, codes: 1 })
    }
  }

  describe('when a process is killed as it gets a 401, as its refresh is sent, or as it uses its new token', () => {
    ;(node ? it : it.skip)('then the login lives in a file of SQLite, with one refresh a lifetime (F315)', async () => {
      await expectLoginLives(await start({ exchangeTimeoutMs: 1_000 }))
    })

    ;(hasRedis ? it : it.skip)('then the login lives in Redis, with one refresh a lifetime (F315)', () =>
      onRedis(async (how) => expectLoginLives(await start({ ...how, exchangeTimeoutMs: 1_000 }))),
    )
  })
})

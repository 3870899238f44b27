// Measures what a request costs with each wrapper of one fetch, for the process that started this one. The server is in that other process.
import { createTokenManager } from '../../../dist/index.js'
import { dpopKey } from '../../../dist/dpop.js'
import { withBearer } from '../../../dist/fetch.js'
import { floorOver } from '../../contestants/floor.mjs'
import { cpuTime } from '../cpu.mjs'
import { interleaved } from '../rounds.mjs'

/** The wrapper with a constant header, that wrapper a second time, the floor by hand, ours, and ours with proofs. */
export const [REFERENCE, AGAIN, FLOOR, OURS, PROVEN] = [
  'constant header',
  'A/A',
  'floor',
  'withBearer',
  'withBearer, dpop (ES256)',
]
const REQUESTS_IN_TURN = 25
const LAPS = 20

if (process.send) {
  const [setting, rounds, origin] = process.argv.slice(2)
  const all = await created({ 'in process': () => Promise.resolve(new Response(null)), fetch }[setting], origin)
  const measure = async (each) => ({
    us: (await cpuTime(() => sent(all[each], `${origin}/wallet`))) / REQUESTS_IN_TURN,
  })
  const contestants = Object.keys(all)
  const taken = await interleaved({ rounds: Number(rounds), warmUps: 8, laps: LAPS, contestants, measure })
  process.send(taken, () => process.exit())
}

async function created(fetch, origin) {
  const obtain = async () => ({ accessToken: 'a-token-that-looks-like-one', accessLifetimeMs: 3_600_000 })
  const grant = async () => {
    const { accessToken, accessLifetimeMs } = await obtain()
    return { accessToken, lifetimeMs: accessLifetimeMs }
  }
  const tokens = createTokenManager({ source: { id: 'benchmark', origin, obtain } })
  const constant = `Bearer ${await tokens.getAccessToken()}`
  const wrapper = () => (input, init) =>
    fetch(input, { ...init, headers: { ...init?.headers, Authorization: constant } })
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const dpop = dpopKey(await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']))
  return {
    [REFERENCE]: wrapper(),
    [AGAIN]: wrapper(),
    [FLOOR]: floorOver(fetch, origin, grant),
    [OURS]: withBearer(fetch, tokens),
    [PROVEN]: withBearer(fetch, tokens, { dpop }),
  }
}

async function sent(fetch, url) {
  for (let n = 0; n < REQUESTS_IN_TURN; n++)
    await (await fetch(url, { headers: { Accept: 'application/json' } })).arrayBuffer()
}

// What a fresh token of a resource costs, compared with the login's own: npm run build && node bench/resources.mjs. Prints ns of processor time, the
// median of alternating laps, and their ratio.
import { createTokenManager } from '../dist/index.js'
import { person } from '../dist/login.js'
import { forResource } from '../dist/oauth2.js'

const LAPS = 41
const CALLS = 50_000
let exchanges = 0
const tokens = createTokenManager({
  source: {
    ...{ id: 'bench', login: person, resources: true, obtain: () => Promise.reject(new Error('No user logs in')) },
    refresh: async () => {
      exchanges += 1
      return { accessToken: `a${exchanges}`, accessLifetimeMs: 3_600_000, refreshToken: `r${exchanges}` }
    },
  },
})
await tokens.adopt({ refreshToken: 'r0' })
const managers = { login: tokens, resource: forResource(tokens, { resource: 'https://orders.example.com' }) }
for (const manager of Object.values(managers)) await manager.getAccessToken()
const methods = {
  peekAccessToken: (manager) => manager.peekAccessToken(),
  getAccessToken: (manager) => manager.getAccessToken(),
}
for (const [name, call] of Object.entries(methods)) {
  const laps = { login: [], resource: [] }
  for (let lap = 0; lap <= LAPS; lap += 1)
    for (const [whose, manager] of Object.entries(managers)) {
      const took = await nsOf(() => call(manager))
      // The first lap warms up.
      if (lap > 0) laps[whose].push(took)
    }
  const { login, resource } = { login: median(laps.login), resource: median(laps.resource) }
  console.log(
    `${name.padEnd(16)} login ${login.toFixed(0)} ns  resource ${resource.toFixed(0)} ns  ${(resource / login).toFixed(2)}`,
  )
}

async function nsOf(call) {
  const before = process.cpuUsage()
  for (let n = 0; n < CALLS; n += 1) await call()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / CALLS
}

function median(values) {
  return [...values].sort((one, other) => one - other)[values.length >> 1]
}

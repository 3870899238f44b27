// Eight processes of one machine share one login to an MCP server that rotates refresh tokens and detects their reuse: npm run bench:mcp. For
// comparison, the same processes use the SDK alone, which keeps its tokens in a file.
import { fileURLToPath } from 'node:url'
import { nodeWithSqlite } from '../scripts/lib/node-sqlite.mjs'
import { startFleet } from '../test/mcp/fleet.mjs'

const PROCESSES = 8
const node = nodeWithSqlite()
if (!node) throw new Error('The bench needs node:sqlite: Node 22.13 or newer')
const dist = fileURLToPath(new URL('../dist', import.meta.url))

console.log('                          served   refreshes   reuse alarms   a ninth process')
for (const isAlone of [true, false]) {
  const fleet = await startFleet({ node, dist, isAlone })
  await fleet.logIn()
  const said = await fleet.callAtOnce(PROCESSES)
  const { refreshes, reuses } = fleet.world.counts
  const ninth = await (await fleet.agent()).call()
  const served = `${said.filter((one) => one === 'said you').length} of ${PROCESSES}`
  const name = isAlone ? 'the SDK alone' : 'with axios-evergreen/mcp'
  const row = [served, refreshes, reuses].map((cell, n) => String(cell).padStart([9, 12, 15][n]))
  console.log(`${name.padEnd(24)}${row.join('')}   ${ninth === 'said you' ? 'served' : ninth}`)
  await fleet.close()
}

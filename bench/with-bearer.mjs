// What withBearer costs a request that finds a fresh token: npm run bench:fetch. Prints processor time of quiet laps, and its ratio to a wrapper that sets a
// constant header: the median of three processes, the least and the greatest. `A/A` is that wrapper a second time: smaller differences are noise.
import { createServer } from 'node:http'
import { inFreshProcess } from './lib/fresh-process.mjs'
import { FLOOR, OURS, REFERENCE } from './lib/hot-path/with-bearer.mjs'
import { compareAdded, compared, compareQuiet } from './lib/rounds.mjs'

const MODULE = new URL('lib/hot-path/with-bearer.mjs', import.meta.url)
const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const origin = `http://127.0.0.1:${server.address().port}`

for (const setting of ['in process', 'fetch']) {
  const runs = []
  for (let n = 0; n < 3; n++) runs.push(await inFreshProcess(MODULE, [setting, 40, origin]))
  const quiet = compareQuiet(runs, 'us', REFERENCE)
  const all = compared(runs.flat(), 'us', REFERENCE)
  console.log(`\n${setting === 'fetch' ? 'fetch of Node, on loopback' : 'a function that responds at once'}`)
  for (const [name, { median, low, high }] of Object.entries(quiet))
    console.log(
      `${name.padEnd(26)}${all[name].median.toFixed(1).padStart(8)} µs  ${[median, low, high].map((one) => one.toFixed(3)).join('  ')}`,
    )
  const { [OURS]: own } = compareAdded(runs, 'us', REFERENCE, FLOOR)
  console.log(
    `${OURS} adds ${own.median.toFixed(2)} × what the floor adds (${own.low.toFixed(2)} to ${own.high.toFixed(2)})`,
  )
}
server.close()
server.closeAllConnections()

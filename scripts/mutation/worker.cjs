// A process that has loaded one bundle of tests, and runs some of them for each mutant that it receives.
const { running } = require('./globals.cjs')

for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) Reflect.deleteProperty(process.env, name)
require(process.argv[2])

const tell = (message) => process.send(message)

/** Runs all tests as they are. */
async function survey() {
  const found = []
  for (const [index, { name }] of running.tests.entries()) {
    tell({ at: index })
    const { error, hits, ms } = await running.run(index, 0)
    found.push({
      name,
      hits,
      ms,
      error: error === undefined ? undefined : String(error.stack ?? error).slice(0, 2_000),
    })
  }
  tell({ survey: found, atLoad: running.atLoad() })
}

/** Runs tests until one notices the mutant. Does that test pass without it? If not, the mutant has left something behind. */
async function meet(mutant, tests) {
  for (const index of tests) {
    tell({ at: index })
    const { error } = await running.run(index, mutant)
    if (error === undefined) continue
    const again = await running.run(index, 0)
    return tell({ noticedBy: index, isSpoilt: again.error !== undefined })
  }
  tell({ noticedBy: undefined, isSpoilt: false })
}

process.on('disconnect', () => process.exit())
process.on('message', ({ mutant, tests }) => void (tests ? meet(mutant, tests) : survey()))
tell({ isReady: true })

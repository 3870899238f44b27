// Something happens to tabs in the middle of a renewal, at a strict service: [--engine chromium,firefox] [--rounds 50] [--row 'closed;crashed;…'] [--together 5]
// [--without lock]. `--without` removes a part of the package. The scene must then fail.
import { engines } from '../../../test/browser/support/engines.mjs'
import { dice } from '../../lib/dice.mjs'
import { markdownTable } from '../../lib/pages.mjs'
import { bundle } from '../tabs/bundle.mjs'
import { Round } from './round.mjs'
import { ROWS } from './rows.mjs'
import { verdictOf } from './verdict.mjs'

/** What `--without` removes: a function of the built package, with the body that it then has. */
const REMOVALS = {
  lease: [/function busyIn\(.*\) \{/, 'return undefined;'],
  lock: [/async function isHeldIn\(.*\) \{/, 'return false;'],
  question: [/function isAlive\(.*\) \{/, 'return Promise.resolve(false);'],
}

export const options = {
  ...{ rounds: 50, together: 5, engine: 'chromium,firefox' },
  ...{ row: String, without: String },
}
export const least = { rounds: 1, together: 1 }

export async function* run({ engine, row, rounds, together, seed, without }) {
  const scripts = await bundle('../disturbances/page.mjs', REMOVALS[without])
  const names = row?.split(';') ?? Object.keys(ROWS)
  const table = [
    [
      'engine',
      'disturbance',
      'rounds',
      'refreshes',
      'twice',
      'wrongly logged out',
      'not served',
      'lost with a response',
    ],
  ]
  for (const engineName of engine.split(','))
    for (const name of names) {
      const { cannot, instead } = ROWS[name]
      if (cannot?.[engineName]) {
        table.push([engineName, name, `none: ${cannot[engineName]}`])
        continue
      }
      const sum = await roundsOf({ start: engines()[engineName], row: ROWS[name], rounds, together, seed, scripts })
      console.log(
        `${engineName}, ${name}${instead?.[engineName] ? ` (${instead[engineName]})` : ''}: ${JSON.stringify(sum)}`,
      )
      const { refreshes, twice, wronglyOut, stuck, lost } = sum
      table.push([engineName, name, rounds, refreshes, twice, wronglyOut, stuck, lost])
      yield [
        [twice === 0, `no refresh token was presented twice while a page had its response (${twice} were)`],
        [wronglyOut === 0, `no tab asked its user to log in while the login had not ended (${wronglyOut} did)`],
        [stuck === 0, `each tab was served, or notified that its login had ended (${stuck} were not)`],
        [sum.trouble === 0, `each round ran (${sum.trouble} did not)`],
      ]
    }
  console.log(markdownTable(table))
}

/** Some at a time, each with its own origin, draws and tabs. */
async function roundsOf({ start, row, rounds, together, seed, scripts }) {
  const engine = await start({ profile: row.profile, discards: true })
  const sum = {}
  let begun = 0
  const worker = async () => {
    while (begun < rounds) {
      const n = (begun += 1)
      const round = await new Round({ engine, dice: dice(seed, n), row, scripts }).run()
      const verdict = verdictOf(round)
      const { twice, wronglyOut, stuck, trouble } = verdict
      if (twice + wronglyOut + stuck + trouble > 0) tell(n, round, verdict)
      for (const [name, value] of Object.entries(verdict))
        sum[name] = name === 'longestMs' ? Math.max(sum[name] ?? 0, Math.round(value)) : (sum[name] ?? 0) + value
    }
  }
  await Promise.all(Array.from({ length: row.isSerial?.(engine) ? 1 : together }, worker))
  await engine.close().catch(() => undefined)
  return sum
}

function tell(n, { isLogin, moment, lastsMs, lifetimeMs, service, armedAt, calmAt, stuck, trouble }, verdict) {
  const { calls, reports } = service
  const facts = {
    n,
    isLogin,
    moment,
    lastsMs,
    lifetimeMs,
    armedAt,
    calmAt,
    stuck,
    trouble: String(trouble ?? ''),
    verdict,
  }
  console.log('  FAULT', JSON.stringify(facts))
  for (const call of calls) console.log('    call', JSON.stringify(call))
  for (const report of reports.slice(-25)) console.log('    report', JSON.stringify(report))
}

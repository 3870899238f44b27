import { growthOf } from './heap.mjs'
import { GROUPS, RULES } from './tally.mjs'

const WIDTH = 58

/** What was counted, for a reader who has never seen the project. */
export function countsOf({ counts }) {
  const lines = []
  for (const [group, found] of counts) {
    if (found.size === 0) continue
    const all = [...found].map(([what, { A, B }]) => [what, A, B])
    const total = (of) => all.reduce((sum, line) => sum + line[of], 0)
    lines.push('', row(GROUPS[group], 'A', 'B', 'both'))
    for (const [what, A, B] of all.sort((one, other) => other[1] + other[2] - one[1] - one[2]))
      lines.push(row(`  ${what}`, A, B, A + B))
    if (all.length > 1) lines.push(row('  together', total(1), total(2), total(1) + total(2)))
  }
  return `${lines.join('\n')}\n`
}

/** @param left What keeps the process alive. */
export function promisesOf({ tally, samples, left }) {
  const rules = Array.from(tally.broken, ([rule, found]) => [
    found.length === 0,
    [`${found.length} times ${RULES[rule]}`, ...new Set(found.slice(0, 3))].join('\n          '),
  ])
  return [...rules, flatHeap(samples), [left.length === 0, `left open at the end: ${left.join(', ') || 'nothing'}`]]
}

function flatHeap(samples) {
  const megabytes = samples.map(({ bytes }) => (bytes / 2 ** 20).toFixed(1)).join(' ')
  const heap = `heap in use, MB, after garbage collection, at ${samples.length} rests: ${megabytes}`
  const found = growthOf(samples)
  if (!found) return [true, `${heap}; too few to tell whether it grows: a minute has enough`]
  const { growth, of, isFlat } = found
  const share = `${(growth * 100).toFixed(1)} %, at most 5 % either way`
  return [isFlat, `${heap}; growth after warm-up, by the line that fits ${of} of them best: ${share}`]
}

function row(what, ...numbers) {
  return `  ${what.padEnd(WIDTH)}${numbers.map((number) => String(number).padStart(8)).join('')}`
}

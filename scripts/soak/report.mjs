import { GROUPS, RULES } from './tally.mjs'

const WIDTH = 58

/** The result, for a reader who has never seen the project. */
export function report({ tally, samples, growth, left, seconds }) {
  const lines = []
  for (const [group, counts] of tally.counts) {
    if (counts.size === 0) continue
    const all = [...counts].map(([what, { A, B }]) => [what, A, B])
    const total = (of) => all.reduce((sum, line) => sum + line[of], 0)
    lines.push('', row(GROUPS[group], 'A', 'B', 'both'))
    for (const [what, A, B] of all.sort((one, other) => other[1] + other[2] - one[1] - one[2]))
      lines.push(row(`  ${what}`, A, B, A + B))
    if (all.length > 1) lines.push(row('  together', total(1), total(2), total(1) + total(2)))
  }
  lines.push('', '  what must never happen, and how often it did')
  for (const [rule, found] of tally.broken) {
    lines.push(`${String(found.length).padStart(7)}  ${RULES[rule]}`)
    for (const details of new Set(found.slice(0, 3))) lines.push(`             ${details}`)
  }
  const megabytes = samples.map(({ bytes }) => (bytes / 2 ** 20).toFixed(1)).join(' ')
  lines.push('', `  heap in use, MB, after garbage collection, at ${samples.length} rests: ${megabytes}`)
  lines.push(
    growth
      ? `  growth after warm-up, by the line that fits ${growth.of} samples best: ${(growth.growth * 100).toFixed(1)} %, at most 5 % either way: ${held(growth.isFlat)}`
      : `  too few samples in ${seconds} s to tell whether it grows: a minute has enough`,
  )
  lines.push(`  left open at the end: ${left.length === 0 ? 'nothing' : left.join(', ')}: ${held(left.length === 0)}`)
  return lines.join('\n')
}

function row(what, ...numbers) {
  return `  ${what.padEnd(WIDTH)}${numbers.map((number) => String(number).padStart(8)).join('')}`
}

function held(isHeld) {
  return isHeld ? 'held' : 'BROKEN'
}

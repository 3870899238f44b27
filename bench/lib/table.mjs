/**
 * A table in markdown.
 *
 * @param columns Headings. `>` at the beginning aligns a column to the right, for figures.
 * @param rows Arrays of cells; `undefined` and `null` become a dash.
 */
export function table(columns, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`
  const rule = columns.map((column) => (column.startsWith('>') ? '--:' : '---'))
  return [line(columns.map((column) => column.replace(/^>/, ''))), line(rule), ...rows.map(line)].join('\n')
}

function cell(value) {
  return value === undefined || value === null || value === '' ? '–' : String(value).replaceAll('|', '\\|')
}

/** `12 345.6`: a space between thousands, and `digits` digits after the point. */
export function figure(value, digits = 0) {
  if (!Number.isFinite(value)) return undefined
  const [whole, rest] = Math.abs(value).toFixed(digits).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ')
  return `${value < 0 ? '−' : ''}${grouped}${rest ? `.${rest}` : ''}`
}

/** `1.034 (0.991 to 1.062)`: a ratio with its spread over the rounds. */
export function ratio({ median, low, high }, digits = 3) {
  return `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`
}

/** The noise may be this part of the distance between the reference and the goal. */
const NOISE = 1 / 4

/** A line under a table: a goal, and whether it was reached. `undefined`: the noise was too high to tell. */
export function reach(reached, text) {
  const verdict = { true: 'Reached', false: 'Not reached', undefined: 'No verdict' }[reached]
  return `**${verdict}**: ${text}`
}

/**
 * A line under a table: whether a ratio to the reference is at most `limit`.
 *
 * @param again The ratio of the reference to itself (A/A), with its spread. If any of it is off by more than a quarter of what the limit allows, there
 * is no verdict.
 */
export function reachRatio({ value, again, limit }, text) {
  const isQuiet = isWithin(again, 1, limit - 1)
  const noise = `A/A ${ratio(again)}${isQuiet ? '' : ': too noisy to tell'}`
  return reach(isQuiet ? value <= limit : undefined, `at most ${limit} × ${text}: ${value.toFixed(3)} × (${noise}).`)
}

/** The same for what comes on top of the reference, in `unit`. @param again What comes on top of it when it is measured a second time. */
export function reachBeyond({ value, again, limit }, unit, text) {
  const isQuiet = isWithin(again, 0, limit)
  const noise = `A/A ${figure(again.low)} to ${figure(again.high)}${isQuiet ? '' : ': too noisy to tell'}`
  const verdict = isQuiet ? value <= limit : undefined
  return reach(verdict, `at most ${figure(limit)} ${unit} ${text}: ${figure(value)} (${noise}).`)
}

function isWithin({ median, low, high }, expected, distance) {
  return [median, low, high].every((value) => Math.abs(value - expected) <= distance * NOISE)
}

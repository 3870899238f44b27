import { markdownTable } from '../../scripts/lib/pages.mjs'

/**
 * A table in markdown.
 *
 * @param columns Headings. `>` at the beginning aligns a column to the right, for figures.
 * @param rows Arrays of cells; `undefined` and `null` become a dash.
 */
export function table(columns, rows) {
  const rule = columns.map((column) => (column.startsWith('>') ? '--:' : '---'))
  return markdownTable(
    [columns.map((column) => column.replace(/^>/, '')), ...rows.map((cells) => cells.map(cell))],
    rule,
  )
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

/** @returns The least and the greatest. */
export const range = (values) => [Math.min(...values), Math.max(...values)]

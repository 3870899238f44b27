import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'

/** Readable on white and on black alike: a picture in a document can't ask which of them it stands on for each line. */
export const COLORS = ['#16a34a', '#3b82f6', '#d97706', '#db2777', '#8b5cf6', '#0891b2', '#808080', '#b45309']

const STYLE = `
  svg { color: #1f2328; font: 13px system-ui, sans-serif }
  .title { font-weight: 600; font-size: 15px }
  @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }
`
const MARGIN = 12
const LINE = 20

/**
 * Draws a chart.
 *
 * @param options `title`; `legend`, an object of colours by name; and all that Observable Plot takes: `marks`, `x`, `y`, `width`, ….
 * @returns The text of an SVG file that follows the reader's light or dark scheme.
 */
export function chart({ title, legend, width = 760, height = 380, marginLeft = 60, marginBottom = 42, ...options }) {
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const plot = Plot.plot({ document, width, height, marginLeft, marginBottom, ...options })
  // Plot's own style sets a colour and a background for pages; the file has its own.
  plot.querySelectorAll('style').forEach((style) => style.remove())
  const key = legendRows(Object.entries(legend ?? {}), width)
  const top = MARGIN + LINE + key.height
  plot.setAttribute('y', top)
  // An element of the plot named after the page's variable would have no colour outside of a page.
  const inner = plot.outerHTML.replaceAll('var(--plot-background)', 'none').replace(/ class="plot-[^"]*"/g, '')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + top}" width="${width}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<g fill="currentColor"><text class="title" x="${MARGIN}" y="${MARGIN + 12}">${escaped(title)}</text>${key.svg}</g>`,
    inner,
    '</svg>\n',
  ].join('\n')
}

function legendRows(entries, width) {
  let [x, y] = [MARGIN, MARGIN + LINE + 14]
  const parts = []
  for (const [name, color] of entries) {
    const space = 30 + name.length * 7.2
    if (x + space > width) [x, y] = [MARGIN, y + LINE]
    parts.push(`<rect x="${x}" y="${y - 10}" width="12" height="12" rx="2" fill="${color}"/>`)
    parts.push(`<text x="${x + 18}" y="${y}">${escaped(name)}</text>`)
    x += space
  }
  return { svg: parts.join(''), height: entries.length === 0 ? 0 : y - MARGIN - LINE + 8 }
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

export { Plot }

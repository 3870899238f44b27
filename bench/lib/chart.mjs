import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { DARK, INK } from './colors.mjs'

const MARGIN = 12
/** Characters that fit a line of 760 px in a wide font, for the title and for the subtitle. */
const TITLE_LENGTH = 82
const SUBTITLE_LENGTH = 108

/** Style sheet of a chart. Attributes hold the light colours, for viewers without style sheets. */
const STYLE = `
  svg { color: ${INK}; font: 13px system-ui, sans-serif }
  .title { font-weight: 600; font-size: 15px }
  .subtitle { font-size: 12px; fill-opacity: .8 }
  @media (prefers-color-scheme: dark) {
    svg { color: ${DARK[INK]} }
${Object.entries(DARK)
  .map(([light, dark]) => `    [fill="${light}"] { fill: ${dark} } [stroke="${light}"] { stroke: ${dark} }`)
  .join('\n')}
  }
`

/**
 * Draws a chart.
 *
 * @param options `title`: the finding; `subtitle`: how to read the chart; `legend`: colours by name, or `{ color, dash }` for lines; and all
 *   options of Observable Plot: `marks`, `x`, `y`, `width`, ….
 * @returns The text of an SVG file without a background, which follows the reader's light or dark scheme.
 */
export function chart({ title, subtitle, legend, width = 760, ...options }) {
  const { svg, bottom } = drawn({ width, ...options })
  return sheet({ title, subtitle, legend, width, height: bottom, body: svg })
}

/**
 * Draws several small charts in rows, as panels of one file.
 *
 * @param options As for `chart`, for all panels; and `panels`, each with options as for `chart` and a short `title`.
 */
export function panels({ panels: all, columns = 2, width = 760, title, subtitle, legend, ...shared }) {
  const across = width / columns
  let [top, bottom] = [0, 0]
  const parts = all.map(({ title: name, legend: key = {}, ...panel }, n) => {
    if (n % columns === 0) top = bottom
    const left = (n % columns) * across
    const heading = `<text x="${left + MARGIN}" y="${top + 18}" font-weight="600" fill="currentColor">${escaped(name)}</text>`
    const plot = drawn({ width: across, ...shared, ...panel, top: top + 26, left })
    const below = legendRows(Object.entries(key), across, 0)
    bottom = Math.max(bottom, plot.bottom + below.height + 10)
    return `${heading}${plot.svg}<g transform="translate(${left} ${plot.bottom})">${below.svg}</g>`
  })
  return sheet({ title, subtitle, legend, width, height: bottom, body: parts.join('\n') })
}

function drawn({ width, height = 380, marginLeft = 60, marginBottom = 42, top = 0, left = 0, ...options }) {
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const plot = Plot.plot({ document, width, height, marginLeft, marginBottom, ...options })
  // The style of Plot sets a colour and a background for pages; this file has its own style.
  plot.querySelectorAll('style').forEach((style) => style.remove())
  plot.setAttribute('x', left)
  plot.setAttribute('y', top)
  const svg = plot.outerHTML
    // Outside of a page this variable has no value.
    .replaceAll('var(--plot-background)', 'none')
    .replace(/ class="plot-[^"]*"/g, '')
    .replace(/\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))))
  return { svg, bottom: top + height }
}

function sheet({ title, subtitle = '', legend, width, height, body }) {
  const titles = wrapped(title, TITLE_LENGTH)
  const lines = [
    ...titles.map((text) => ({ text, kind: 'title', height: 20 })),
    ...wrapped(subtitle, SUBTITLE_LENGTH).map((text) => ({ text, kind: 'subtitle', height: 17 })),
  ]
  let y = MARGIN - 4
  const head = lines.map(({ text, kind, height: line }) => {
    y += line
    return `<text class="${kind}" x="${MARGIN}" y="${y}">${escaped(text)}</text>`
  })
  const key = legendRows(Object.entries(legend ?? {}), width, y + 10)
  const top = y + 10 + key.height
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + top}" width="${width}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<g fill="currentColor">${head.join('')}${key.svg}</g>`,
    `<g transform="translate(0 ${top})">${body}</g>`,
    '</svg>\n',
  ].join('\n')
}

function wrapped(text, length) {
  const lines = []
  // A space may separate the thousands of a figure: no line ends there.
  for (const word of text.split(/ (?!\d{3}\b)/).filter(Boolean)) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= length) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

function legendRows(entries, width, top) {
  let [x, y] = [MARGIN, top + 12]
  const parts = []
  for (const [name, line] of entries) {
    const { color, dash } = line.color ? line : { color: line }
    const space = 34 + name.length * 7
    if (x > MARGIN && x + space > width) [x, y] = [MARGIN, y + 20]
    parts.push(
      line.color
        ? `<path d="M${x},${y - 4}h14" stroke="${color}" stroke-width="3" stroke-dasharray="${dash ?? 'none'}"/>`
        : `<rect x="${x}" y="${y - 10}" width="12" height="12" rx="2" fill="${color}"/>`,
    )
    parts.push(`<text x="${x + 18}" y="${y}" fill="currentColor">${escaped(name)}</text>`)
    x += space
  }
  return { svg: parts.join(''), height: entries.length === 0 ? 0 : y - top + 8 }
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

export { Plot }

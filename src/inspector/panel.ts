import { isRequest, type Kind, lookOf, NAMES } from './dots.ts'
import { described, type Element, type Make } from './elements.ts'
import type { Head } from './head.ts'
import { REQUEST, TOKEN_CALL } from './row.ts'

const MAX_LINES = 50

export interface Panel {
  readonly element: Element
  /** Holds the axes. */
  readonly rows: Element
  show(head: Head): void
  /** Puts a line above the others. */
  log(line: string): void
}

export function panel(make: Make): Panel {
  const life = make('div', { height: '100%', forcedColorAdjust: 'none' })
  const track = make('div', { background: '#8884', height: '0.6em', borderRadius: '0.3em', overflow: 'hidden' }, life)
  const title = make('div', { fontWeight: 'bold' })
  const meter = described(track, 'meter', 'Remaining lifetime of the token, in percent')
  const counts = make('div', { opacity: '0.75' })
  const rows = make('div', {})
  const list = make('div', { overflowWrap: 'anywhere', maxHeight: '12em', overflow: 'auto', marginTop: '0.5em' })
  const lines = described(list, 'log', 'Events')
  // The log scrolls, so it must be reachable by keyboard.
  lines.setAttribute('tabindex', '0')
  const section = make(
    'section',
    { font: '0.75rem/1.5 ui-monospace, monospace', padding: '0.8em', border: '1px solid #8888', borderRadius: '0.5em' },
    ...[title, meter, counts, rows, legend(make), lines],
  )
  const element = described(section, 'region', 'axios-evergreen')
  // Time goes from left to right, and the panel is in English, whatever the page is.
  element.setAttribute('dir', 'ltr')
  element.setAttribute('lang', 'en')
  return {
    element,
    rows,
    show(head) {
      meter.setAttribute('aria-valuenow', String(Math.round(head.share * 100)))
      life.style.width = `${head.share * 100}%`
      life.style.background = head.color
      title.textContent = head.title
      counts.textContent = head.counts
    },
    log(line) {
      lines.prepend(make('div', {}, line))
      while (lines.childElementCount > MAX_LINES) lines.lastElementChild?.remove()
    },
  }
}

function legend(make: Make): Element {
  const sign = (kind: Kind) => {
    const shape = isRequest(kind) ? REQUEST : TOKEN_CALL
    const look = { display: 'inline-block', margin: '0 0.4em 0 1em', forcedColorAdjust: 'none' }
    const mark = make('b', { ...shape, ...lookOf(kind), ...look })
    mark.setAttribute('aria-hidden', 'true')
    // A mark and its name stay together when the line breaks.
    return make('span', { display: 'inline-block' }, mark, NAMES[kind])
  }
  const calls = (['renewed', 'adopted', 'retry', 'renewalFailed'] as const).map(sign)
  const requests = (['answered', 'rejected, then answered', 'failed'] as const).map(sign)
  return make('div', {}, 'token requests:', ...calls, make('br', {}), 'requests:', ...requests)
}

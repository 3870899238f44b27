import { BLUE, GREEN, ORANGE, RED } from './dots.ts'
import type { Element, Make } from './elements.ts'
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
  const life = make('div', { height: '100%' })
  const track = make('div', { background: '#8884', height: '0.6em', borderRadius: '0.3em', overflow: 'hidden' }, life)
  const title = make('div', { fontWeight: 'bold' })
  const counts = make('div', { opacity: '0.7' })
  const rows = make('div', {})
  const lines = make('div', { overflowWrap: 'anywhere', maxHeight: '12em', overflow: 'auto', marginTop: '0.5em' })
  const element = make(
    'section',
    { font: '12px/1.5 ui-monospace, monospace', padding: '0.8em', border: '1px solid #8888', borderRadius: '0.5em' },
    ...[title, track, counts, rows, legend(make), lines],
  )
  return {
    element,
    rows,
    show(head) {
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
  const sign = (shape: Readonly<Record<string, string>>, background: string) =>
    make('b', { ...shape, display: 'inline-block', margin: '0 0.4em 0 1em', background })
  const signs = [
    ...['the last minute', sign(TOKEN_CALL, '#888'), 'token calls', sign(TOKEN_CALL, BLUE), 'adopted'],
    ...[
      sign(REQUEST, '#888'),
      'requests',
      sign(REQUEST, GREEN),
      'done',
      sign(REQUEST, ORANGE),
      'done again',
      sign(REQUEST, RED),
      'failed',
    ],
  ]
  return make('div', {}, ...signs)
}

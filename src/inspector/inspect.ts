import { checkFunction, checkObject } from '../core/option-checks.ts'
import type { TokenEvents } from '../core/events.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { element, type Element } from './elements.ts'

/** The bar moves this often, ms. */
const FRAME_MS = 250
/** How far the axis of token calls goes back, ms. */
const AXIS_MS = 60_000
const MAX_LINES = 50

const DOTS: Partial<Record<keyof TokenEvents, string>> = { renewed: 'green', retry: 'orange', renewalFailed: 'red' }

/**
 * Shows what a manager does, for development: the life of its token as a bar, its phase and counts, its token calls on an axis of a minute, and its
 * events as they come. It shows no token, and uses none: looking keeps no token warm.
 *
 * @example
 * ```ts
 * import { inspect } from 'axios-evergreen/web/inspector'
 *
 * const stop = inspect(tokens, document.body)
 * ```
 * @param parent Gets the panel as its last child. Its colours are those of the page, light or dark.
 * @returns A function that removes the panel and stops looking.
 * @throws {TypeError} naming the argument.
 */
export function inspect(tokens: TokenManager, parent: InspectorParent): () => void {
  checkObject('tokens', tokens)
  for (const method of ['status', 'onAny']) checkFunction(`tokens.${method}`, Reflect.get(tokens, method))
  checkFunction('element.append', (parent as Partial<InspectorParent> | undefined)?.append)
  const page = globalThis as unknown as Page
  const make = element(page.document)

  const life = make('div', { background: 'green', height: '100%' })
  const track = make('div', { background: '#8884', height: '0.6em', borderRadius: '0.3em', overflow: 'hidden' }, life)
  const title = make('div', { fontWeight: 'bold' })
  const counts = make('div', { opacity: '0.7' })
  const axis = make('div', { position: 'relative', height: '1em', borderBottom: '1px solid #8888', overflow: 'hidden' })
  const lines = make('div', { whiteSpace: 'pre-wrap', maxHeight: '12em', overflow: 'auto', marginTop: '0.5em' })
  const panel = make(
    'section',
    { font: '12px/1.5 ui-monospace, monospace', padding: '0.8em', border: '1px solid #8888', borderRadius: '0.5em' },
    ...[title, track, counts, axis, lines],
  )
  parent.append(panel as never)

  const dots: { readonly at: number; readonly dot: Element }[] = []
  /** When the token came, as far as that is known. */
  let since: { readonly expiresAt: number; readonly at: number } | undefined

  function draw(): void {
    const now = Date.now()
    const { phase, renewing, accessExpiresAt, nextAttemptAt, lastError, counts: counted } = tokens.status()
    // The same token: its end, told anew each time, is rounded.
    if (accessExpiresAt === undefined) since = undefined
    else if (!since || Math.abs(since.expiresAt - accessExpiresAt) > 1_000)
      since = { expiresAt: accessExpiresAt, at: now }
    const leftMs = Math.max(0, (accessExpiresAt ?? now) - now)
    const share = since ? leftMs / Math.max(1, since.expiresAt - since.at) : 0
    life.style.width = `${Math.min(100, share * 100)}%`
    life.style.background = phase === 'fresh' ? 'green' : phase === 'due' ? 'orange' : 'red'
    const rest = nextAttemptAt === undefined ? [] : [`next attempt in ${inSeconds(nextAttemptAt - now)}`]
    const left = leftMs > 0 ? [`${inSeconds(leftMs)} left`] : []
    title.textContent = [phase, ...left, ...(renewing ? ['renewing'] : []), ...rest, lastError]
      .filter(Boolean)
      .join(' · ')
    counts.textContent = Object.entries(counted)
      .map(([name, count]) => `${count} ${name}`)
      .join(' · ')
    for (const { at, dot } of dots) dot.style.left = `${100 - ((now - at) / AXIS_MS) * 100}%`
    while (dots[0] && now - dots[0].at > AXIS_MS) dots.shift()?.dot.remove()
  }

  const stopListening = tokens.onAny((name, event) => {
    const { error, ...rest } = event as { error?: { code?: string; message?: string } }
    const told = { ...rest, ...(error && { error: `${error.code}: ${error.message}` }) }
    lines.prepend(make('div', {}, `${new Date().toLocaleTimeString()} ${name} ${JSON.stringify(told)}`))
    while (lines.childElementCount > MAX_LINES) lines.lastElementChild?.remove()
    const color = DOTS[name]
    if (color !== undefined) {
      const dot = make('i', {
        position: 'absolute',
        bottom: '0.2em',
        width: '0.5em',
        height: '0.5em',
        borderRadius: '50%',
      })
      dot.style.background = color
      dot.title = name
      axis.append(dot)
      dots.push({ at: Date.now(), dot })
    }
    draw()
  })
  const timer = page.setInterval(draw, FRAME_MS)
  draw()
  return () => {
    page.clearInterval(timer)
    stopListening()
    panel.remove()
  }
}

/** An `HTMLElement`. */
export interface InspectorParent {
  append(...nodes: never[]): void
}

interface Page {
  readonly document: Parameters<typeof element>[0]
  setInterval(callback: () => void, ms: number): unknown
  clearInterval(timer: unknown): void
}

const inSeconds = (ms: number) => `${Math.max(0, ms / 1_000).toFixed(1)} s`

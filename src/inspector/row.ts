import { AXIS_MS, countsOf, type Course, type Dot, isRequest, lookOf, NAMES } from './dots.ts'
import { described, type Element, type Make } from './elements.ts'

/** The axis of one tab: token requests above, requests below. */
export interface Row {
  readonly element: Element
  draw(course: Course, now: number): void
}

export function row(make: Make, name: string, bornAt: number): Row {
  // The dots keep their places on a strip, and the strip moves: one change of style for any number of dots.
  const strip = make('div', { position: 'absolute', inset: '0' })
  const label = make('span', { opacity: '0.75' }, name)
  const axis = make(
    'div',
    { position: 'relative', height: '1.8em', overflow: 'hidden', borderBottom: '1px solid #8888' },
    ...[label, strip],
  )
  const axes = (ms: number) => `${(ms / AXIS_MS) * 100}%`
  const shown: Element[] = []
  let from = 0
  let told = ''

  function add([at, kind]: Dot): void {
    const dot = make('i', {
      ...(isRequest(kind) ? REQUEST : TOKEN_CALL),
      ...{ position: 'absolute', left: `calc(100% - 0.7em + ${axes(at - bornAt)})` },
      ...lookOf(kind),
      forcedColorAdjust: 'none',
    })
    dot.title = NAMES[kind]
    strip.append(dot)
    shown.push(dot)
  }

  return {
    element: axis,
    draw(course, now) {
      for (; shown.length > 0 && from < course.from; from += 1) shown.shift()?.remove()
      if (shown.length === 0) from = course.from
      for (const dot of course.dots.slice(from + shown.length - course.from)) add(dot)
      // One label for the row instead of one for each dot.
      const said = `${name}: ${countsOf(course.dots)} in the last minute`
      if (said !== told) described(axis, 'img', (told = said))
      strip.style.transform = `translateX(${axes(bornAt - now)})`
    },
  }
}

export const TOKEN_CALL = { top: '0.15em', width: '0.7em', height: '0.7em', borderRadius: '0.1em' }
export const REQUEST = { bottom: '0.15em', width: '0.5em', height: '0.5em', borderRadius: '50%' }

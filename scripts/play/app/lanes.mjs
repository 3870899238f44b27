/** The width of a second, in pixels. */
const SECOND_PX = 28
/** The widest lane shows less than this. */
const KEPT_MS = 40_000
const CALM_MS = 1_000

/** What the signs of a lane mean. The legend says the same. */
export const NAMES = {
  waiting: 'waiting',
  answered: 'succeeded',
  again: 'sent again, then succeeded',
  failed: 'failed',
  renewed: 'returned a token',
  refused: 'failed',
}

/** Time runs from left to right. `now` is at the right end. */
export function timeline() {
  const origin = performance.now()
  const lanes = new Set()
  const calm = matchMedia('(prefers-reduced-motion: reduce)')
  let now = origin
  let isPaused = false
  const placeOf = (at) => `${((at - origin) / 1_000) * SECOND_PX}px`

  function draw(at) {
    requestAnimationFrame(draw)
    // If the user prefers reduced motion, the lanes move by whole seconds.
    if (isPaused || (calm.matches && at - now < CALM_MS)) return
    now = Math.max(now, at)
    for (const lane of lanes) lane.draw(now)
  }
  requestAnimationFrame(draw)

  return {
    set isPaused(paused) {
      isPaused = paused
    },
    /** @param {HTMLElement} element */
    lane(element, said) {
      const strip = element.appendChild(document.createElement('div'))
      strip.className = 'strip'
      const signs = new Set()
      const lane = {
        draw(at) {
          strip.style.transform = `translateX(-${placeOf(at)})`
          for (const sign of signs) sign.draw?.(at)
        },
        /** A request or a token call that begins now. */
        begin(shape) {
          const [mark, sign] = [document.createElement('i'), { at: performance.now(), kind: 'waiting' }]
          mark.style.left = placeOf(sign.at)
          const become = (kind) => {
            sign.kind = kind
            mark.className = `${shape} ${kind}`
            mark.title = NAMES[kind]
          }
          become('waiting')
          add(sign, mark)
          return become
        },
        /** A stretch of time that begins now, and ends at `until`, or with the function that is returned. */
        bar(kind, until = Infinity) {
          const [mark, sign] = [document.createElement('b'), { at: performance.now() }]
          mark.className = kind
          mark.style.left = placeOf(sign.at)
          let end = until
          sign.draw = (at) => (mark.style.width = `${(Math.max(0, Math.min(at, end) - sign.at) / 1_000) * SECOND_PX}px`)
          sign.isOver = (at) => Math.min(at, end) < at - KEPT_MS
          add(sign, mark)
          return () => (end = Math.min(end, performance.now()))
        },
        /** Describes the lane for users who do not see it. */
        describe() {
          const kinds = Array.from(signs, ({ kind }) => kind).filter(Boolean)
          const counts = Object.keys(NAMES).map((kind) => [kinds.filter((one) => one === kind).length, NAMES[kind]])
          const words = counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`)
          element.setAttribute('aria-label', `${said}: ${words.join(', ') || 'none'}`)
        },
        end() {
          lanes.delete(lane)
          strip.remove()
        },
      }
      function add(sign, mark) {
        strip.append(mark)
        signs.add(sign)
        for (const old of signs) {
          const isOver = old.isOver?.(sign.at) ?? old.at < sign.at - KEPT_MS
          if (isOver) (signs.delete(old), old.mark.remove())
        }
        sign.mark = mark
      }
      element.setAttribute('role', 'img')
      lane.describe()
      lanes.add(lane)
      return lane
    },
  }
}

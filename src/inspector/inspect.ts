import type { AxiosInstance } from 'axios'
import { checkFunction, checkObject, ifGiven, readOptions } from '../core/option-checks.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import { AXIS_MS, EMPTY, type Kind, kindOfEvent, withDot, without } from './dots.ts'
import { maker } from './elements.ts'
import { headOf, type Life, lifeOf, lineOf } from './head.ts'
import { panel } from './panel.ts'
import { followRequests } from './requests.ts'
import { OWN, rowsIn } from './rows.ts'
import { joinTabs, type TabsPage } from './tabs.ts'

/** Time between two updates of the panel, ms. */
const FRAME_MS = 250

type InspectOptions = NonNullable<Parameters<typeof inspect>[2]>

/**
 * Shows a manager during development: the lifetime of its token as a bar, its phase and counts, its events, and the last minute on an axis.
 * Squares are token requests: green ones returned a token, orange ones are retried, red ones failed. A blue square is a token adopted from a login or
 * another tab. With `api`, circles are requests: green ones succeeded, orange ones got a 401 and succeeded when sent again, red ones failed.
 *
 * Panels of the same origin in other tabs appear with axes of their own. The panels exchange only the time and kind of each event, through a
 * `BroadcastChannel`. A panel neither shows nor uses tokens, so it causes no renewal.
 *
 * @example
 * ```ts
 * import { inspect } from 'axios-evergreen/web/inspector'
 *
 * const stop = inspect(tokens, document.body, { api })
 * ```
 * @param parent An `HTMLElement`. It gets the panel as its last child. The panel follows the colour scheme of the page.
 * @param options `api`: an axios instance whose requests the panel shows as circles. The panel adds two interceptors, which are removed with it.
 * @returns A function that removes the panel and its listeners.
 * @throws {TypeError} naming the argument.
 */
export function inspect(
  tokens: ResourceTokens,
  parent: { append(...nodes: never[]): void },
  options: { api?: Pick<AxiosInstance, 'interceptors'> | undefined } = {},
): () => void {
  const { api } = checked(tokens, parent, options)
  const page = globalThis as unknown as Page
  const make = maker(page.document)
  const view = panel(make)
  const drawRows = rowsIn(view.rows, make)
  let own = EMPTY
  let life: Life | undefined
  const tabs = joinTabs(page, () => own)

  function draw(): void {
    const now = Date.now()
    const status = tokens.status()
    life = lifeOf(life, status.accessExpiresAt, now)
    view.show(headOf(status, life, now))
    own = without(own, now - AXIS_MS)
    tabs.send(own, now)
    drawRows(new Map([[OWN, own], ...tabs.living(now)]), now)
  }

  const addDot = (kind: Kind) => void (own = withDot(own, [Date.now(), kind]))
  const timer = page.setInterval(draw, FRAME_MS)
  const onEvent: Parameters<ResourceTokens['onAny']>[0] = (name, event) => {
    view.log(`${new Date().toLocaleTimeString()} ${lineOf(name, event)}`)
    const kind = kindOfEvent(name, event)
    if (kind) addDot(kind)
    draw()
  }
  const stops = [tokens.onAny(onEvent), api && followRequests(api, addDot), () => tabs.leave()]
  parent.append(view.element as never)
  draw()
  return () => {
    page.clearInterval(timer)
    for (const stop of stops) stop?.()
    view.element.remove()
  }
}

/** @throws {TypeError} naming the argument. @returns The options. */
function checked(tokens: unknown, parent: unknown, options: InspectOptions): InspectOptions {
  checkObject('tokens', tokens)
  for (const method of ['status', 'onAny']) checkFunction(`tokens.${method}`, Reflect.get(tokens as object, method))
  checkFunction('parent.append', (parent as { append?: unknown } | undefined | null)?.append)
  return readOptions('The options of inspect', options, { api: ifGiven(axiosInstance) }, '')
}

function axiosInstance(name: string, given: unknown): AxiosInstance {
  const { request, response } = (given as Partial<AxiosInstance> | null)?.interceptors ?? {}
  const isInstance = [request, response].every((interceptors) => typeof interceptors?.use === 'function')
  if (!isInstance) throw new TypeError(`${name} must be an axios instance`)
  return given as AxiosInstance
}

interface Page extends TabsPage {
  readonly document: Parameters<typeof maker>[0]
  setInterval(callback: () => void, ms: number): unknown
  clearInterval(timer: unknown): void
}

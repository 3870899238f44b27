import type { LoginEvents } from '../core/events.ts'

/** How far an axis goes back, ms. */
export const AXIS_MS = 60_000
/** The most dots on one axis. More would be indistinguishable. */
const MAX_DOTS = 300

export const GREEN = '#2f9e44'
export const ORANGE = '#d9480f'
export const RED = '#e03131'
const BLUE = '#3b82f6'

export type TokenCall = 'renewed' | 'adopted' | 'retry' | 'renewalFailed'
export type RequestEnd = 'answered' | 'rejected, then answered' | 'failed'
export type Kind = TokenCall | RequestEnd

const COLORS: Readonly<Record<Kind, string>> = {
  renewed: GREEN,
  adopted: BLUE,
  retry: ORANGE,
  renewalFailed: RED,
  answered: GREEN,
  'rejected, then answered': ORANGE,
  failed: RED,
}

/** The names in the legend. */
export const NAMES: Readonly<Record<Kind, string>> = {
  renewed: 'renewed',
  adopted: 'adopted',
  retry: 'tried again',
  renewalFailed: 'failed',
  answered: 'answered',
  'rejected, then answered': 'sent again',
  failed: 'failed',
}
const KINDS = Object.keys(NAMES) as Kind[]

/** @returns The dots as text: `2 token requests renewed, 38 answered, 1 sent again`. */
export function countsOf(dots: readonly Dot[]): string {
  const parts = KINDS.map((kind) => {
    const count = dots.filter(([, one]) => one === kind).length
    const calls = isRequest(kind) ? '' : count === 1 ? 'token request ' : 'token requests '
    return count > 0 && `${count} ${calls}${NAMES[kind]}`
  })
  return parts.filter(Boolean).join(', ') || 'nothing'
}

/** Kinds differ not only in colour: a retry is half filled, a failure is hollow, an adoption has a cut corner. */
export function lookOf(kind: Kind): Readonly<Record<string, string>> {
  const color = COLORS[kind]
  const edge = { border: `0.12em solid ${color}`, boxSizing: 'border-box' }
  if (color === RED) return { ...edge, background: 'transparent' }
  if (color === ORANGE) return { ...edge, background: `linear-gradient(to top, ${color} 50%, transparent 50%)` }
  return { background: color, ...(color === BLUE && { clipPath: 'polygon(0 0, 50% 0, 100% 50%, 100% 100%, 0 100%)' }) }
}

const isKind = (kind: unknown): kind is Kind => typeof kind === 'string' && Object.hasOwn(COLORS, kind)
export const isRequest = (kind: Kind) => kind === 'answered' || kind === 'rejected, then answered' || kind === 'failed'

/** @returns The kind of token request that an event reports; undefined if none. */
export function kindOfEvent(name: keyof LoginEvents, event: object): TokenCall | undefined {
  if (name === 'renewed') return 'by' in event && event.by === 'adopted' ? 'adopted' : name
  return name === 'retry' || name === 'renewalFailed' ? name : undefined
}

/** How a request ended for its caller. */
export interface End {
  readonly isError: boolean
  readonly status?: number | undefined
  /** Code of the error, if there is one. */
  readonly code?: string | undefined
  /** How many of its responses had status 401. */
  readonly rejections: number
}

/** @returns Undefined for a request that its caller has cancelled. */
export function kindOfEnd({ isError, status, code, rejections }: End): RequestEnd | undefined {
  if (code === 'ERR_CANCELED') return undefined
  if (isError || status === 401) return 'failed'
  return rejections > 0 ? 'rejected, then answered' : 'answered'
}

/** Epoch ms, and what happened then. */
export type Dot = readonly [at: number, kind: Kind]

/** The newest dots of a tab. */
export interface Course {
  /** How many older dots of the tab were dropped. */
  readonly from: number
  readonly dots: readonly Dot[]
}

export const EMPTY: Course = { from: 0, dots: [] }
export const endOf = ({ from, dots }: Course) => from + dots.length

export function withDot({ from, dots }: Course, dot: Dot): Course {
  const surplus = Math.max(0, dots.length + 1 - MAX_DOTS)
  return { from: from + surplus, dots: [...dots.slice(surplus), dot] }
}

/** @returns The course without older dots; the same object if there are none. */
export function without(course: Course, olderThan: number): Course {
  const first = course.dots.findIndex(([at]) => at >= olderThan)
  const gone = first < 0 ? course.dots.length : first
  return gone === 0 ? course : { from: course.from + gone, dots: course.dots.slice(gone) }
}

/** What a panel sends to the others: the dots that it shows, or (without a course) that it closes. */
export interface Message {
  /** Random id of the panel. */
  readonly tab: string
  readonly course?: Course | undefined
}

/** @returns Undefined for data that no panel of this release sends. */
export function readMessage(data: unknown): Message | undefined {
  const { tab, course } = (data ?? {}) as { tab?: unknown; course?: { from?: unknown; dots?: unknown } | null }
  if (typeof tab !== 'string' || tab === '') return undefined
  if (course === undefined) return { tab }
  const { from, dots } = course ?? {}
  if (!Number.isSafeInteger(from) || !Array.isArray(dots) || dots.length > MAX_DOTS || !dots.every(isDot))
    return undefined
  return { tab, course: { from: from as number, dots } }
}

function isDot(dot: unknown): dot is Dot {
  return Array.isArray(dot) && Number.isFinite(dot[0]) && isKind(dot[1])
}

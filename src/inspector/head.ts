import type { LoginEvents } from '../core/events.ts'
import type { NamedResource } from '../core/resource.ts'
import type { LoginStatus } from '../core/status.ts'
import { GREEN, NAMES, ORANGE, RED } from './dots.ts'

/** The part of a token's lifetime that begins when the panel first sees the token. */
export interface Life {
  readonly expiresAt: number
  readonly at: number
}

/** What the panel shows above the axes. */
export interface Head {
  /** Share of the token's life that is left, 0 to 1. */
  readonly share: number
  readonly color: string
  readonly title: string
  readonly counts: string
}

/** @returns `before`, if the token is the same. Each status computes the expiry anew, so it differs slightly. */
export function lifeOf(before: Life | undefined, expiresAt: number | undefined, now: number): Life | undefined {
  if (expiresAt === undefined) return undefined
  return before && Math.abs(before.expiresAt - expiresAt) <= 1_000 ? before : { expiresAt, at: now }
}

/** The status of a manager whose source needs a login. */
interface Login {
  readonly login?: 'present' | 'required'
  readonly loginReason?: string
}

export function headOf(status: LoginStatus, life: Life | undefined, now: number): Head {
  const { login, loginReason } = status as Login
  const { renewing, counts } = status
  const head =
    login === 'required'
      ? { share: 0, color: RED, parts: ['login required', loginReason, renewing && 'renewing'] }
      : headOfToken(status, life, now)
  const shownCounts = Object.entries(counts).map(
    ([name, count]) => `${count} ${count === 1 ? name.replace(/(?<=sh)es$|s$/, '') : name}`,
  )
  const { share, color, parts } = head
  return {
    share,
    color,
    title: [status.resource as NamedResource | undefined, ...parts].filter(Boolean).join(' · '),
    counts: shownCounts.join(' · '),
  }
}

function headOfToken(
  { phase, renewing, accessExpiresAt, nextAttemptAt, lastError }: LoginStatus,
  life: Life | undefined,
  now: number,
) {
  const leftMs = Math.max(0, (accessExpiresAt ?? now) - now)
  return {
    share: life ? Math.min(1, leftMs / Math.max(1, life.expiresAt - life.at)) : 0,
    color: phase === 'fresh' ? GREEN : phase === 'due' ? ORANGE : RED,
    parts: [
      phase,
      leftMs > 0 && `${inSeconds(leftMs)} left`,
      renewing && 'renewing',
      nextAttemptAt !== undefined && `next attempt in ${inSeconds(nextAttemptAt - now)}`,
      lastError,
    ],
  }
}

/** Members of events that `lineOf` shows in another form, or not at all. The head of the panel names the resource. */
interface Told {
  readonly error?: { readonly code?: string; readonly message?: string }
  readonly suspicious?: true
  readonly resource?: unknown
}

/** @returns An event as text, such as `renewed: by refresh, because due, duration 120 ms`. */
export function lineOf(name: keyof LoginEvents, event: object): string {
  const { error, suspicious, resource, ...rest } = event as Told
  const told = Object.entries(rest).map(([member, value]) =>
    value === Infinity ? `no ${wordsOf(member.replace(/At$/, ''))}` : `${wordsOf(member)} ${shownOf(member, value)}`,
  )
  const parts = [...told, ...(error ? [`${error.code}: ${error.message}`] : [])]
  return `${name === 'retry' ? NAMES.retry : wordsOf(name)}: ${parts.join(', ')}`
}

/** `accessExpiresAt`: `access expires at`; `durationMs`: `duration`. */
const wordsOf = (name: string) => name.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

function shownOf(member: string, value: unknown): string {
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value)
  if (member.endsWith('At')) return new Date(value).toLocaleTimeString()
  return `${Math.round(value)}${member.endsWith('Ms') ? ' ms' : ''}`
}

const inSeconds = (ms: number) => `${Math.max(0, ms / 1_000).toFixed(1)} s`

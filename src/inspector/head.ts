import type { TokenEvents } from '../core/events.ts'
import type { TokenStatus } from '../core/phase.ts'
import { GREEN, ORANGE, RED } from './dots.ts'

/** The life of a token, since the panel first saw the token. */
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

/** @returns `before`, if the token is the same. Each status computes the expiry anew, so it differs by a little. */
export function lifeOf(before: Life | undefined, expiresAt: number | undefined, now: number): Life | undefined {
  if (expiresAt === undefined) return undefined
  return before && Math.abs(before.expiresAt - expiresAt) <= 1_000 ? before : { expiresAt, at: now }
}

export function headOf(status: TokenStatus, life: Life | undefined, now: number): Head {
  const { phase, renewing, accessExpiresAt = now, nextAttemptAt, lastError, counts } = status
  const leftMs = Math.max(0, accessExpiresAt - now)
  const parts = [
    phase,
    leftMs > 0 && `${inSeconds(leftMs)} left`,
    renewing && 'renewing',
    nextAttemptAt !== undefined && `next attempt in ${inSeconds(nextAttemptAt - now)}`,
    lastError,
  ]
  return {
    share: life ? Math.min(1, leftMs / Math.max(1, life.expiresAt - life.at)) : 0,
    color: phase === 'fresh' ? GREEN : phase === 'due' ? ORANGE : RED,
    title: parts.filter(Boolean).join(' · '),
    counts: Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(' · '),
  }
}

export function lineOf(name: keyof TokenEvents, event: object): string {
  const { error, ...rest } = event as { error?: { code?: string; message?: string } }
  const told = { ...rest, ...(error && { error: `${error.code}: ${error.message}` }) }
  return `${name} ${JSON.stringify(told, (_, value: unknown) => (typeof value === 'number' ? Math.round(value) : value))}`
}

const inSeconds = (ms: number) => `${Math.max(0, ms / 1_000).toFixed(1)} s`

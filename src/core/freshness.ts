/** A lifetime above this counts as this: a service that promises a year may revoke tomorrow. */
export const LONGEST_LIFETIME_MS = 24 * 60 * 60 * 1_000

export type Freshness = 'fresh' | 'due' | 'expired'

/** Remaining lifetimes, in ms, at which renewal begins (`skewMs`) and at which callers wait for it (`hardSkewMs`). */
export interface RenewalWindow {
  readonly skewMs: number
  readonly hardSkewMs: number
}

export interface WindowSettings {
  readonly skewMs?: number | undefined
  readonly hardSkewMs?: number | undefined
  readonly jitter: number
}

/**
 * The two windows of one token, always shares of its lifetime: a fixed window of minutes would renew a token that lives
 * one minute on every request.
 *
 * @param random Uniform in [0, 1), drawn once per token: a fleet that started together does not renew together.
 */
export function renewalWindow(lifetimeMs: number, settings: WindowSettings, random: number): RenewalWindow {
  const skewMs = Math.min(settings.skewMs ?? within(lifetimeMs / 4, 2_000, 300_000), lifetimeMs / 2)
  const hardSkewMs = Math.min(settings.hardSkewMs ?? within(lifetimeMs / 20, 1_000, 10_000), lifetimeMs / 4)
  // A quarter of its life is a token's own, whatever jitter adds.
  return { skewMs: Math.min(skewMs * (1 + settings.jitter * random), lifetimeMs * 0.75), hardSkewMs }
}

/** @returns `due`: use the token, renew behind the request; `expired`: wait for the renewal. */
export function freshnessOf(remainingMs: number, window: RenewalWindow): Freshness {
  if (remainingMs <= window.hardSkewMs) return 'expired'
  return remainingMs <= window.skewMs ? 'due' : 'fresh'
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}

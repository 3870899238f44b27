export interface SimulatedServiceOptions {
  /** Ms from issue to expiry of an access token. Default 60 000. */
  accessLifetimeMs?: number
  /** Ms from issue to expiry of a refresh token. Default 6 h. */
  refreshLifetimeMs?: number
  /**
   * Token requests allowed in any period of `windowMs` (a sliding window; rejected requests do not count). Further ones get 429.
   * Default: no limit.
   */
  throttle?: { calls: number; windowMs: number }
  /**
   * Latency of every response of the token endpoints, ms. Default 0. This is real time: a `ManualClock` does not advance it, so a manager with such
   * a clock may reach its deadline first.
   */
  latencyMs?: number
  /** Ms by which the service's clock is ahead of this machine's; negative: behind. Default 0. */
  clockOffsetMs?: number
  /**
   * Each proof of possession (DPoP, RFC 9449) needs a nonce of the service: without it the token endpoint responds with 400 and the API with 401, both
   * `use_dpop_nonce`. Default false.
   */
  dpopNonces?: boolean
  /** Port on 127.0.0.1. Default 0: any free one. */
  port?: number
}

export type ServiceSettings = ReturnType<typeof serviceSettings>

/** @throws {TypeError | RangeError} naming the option and its value. */
export function serviceSettings({
  accessLifetimeMs = 60_000,
  refreshLifetimeMs = 6 * 3_600_000,
  throttle,
  latencyMs = 0,
  clockOffsetMs = 0,
  dpopNonces = false,
  port = 0,
  ...unknown
}: SimulatedServiceOptions) {
  const [name] = Object.keys(unknown)
  if (name !== undefined) throw new TypeError(`startTokenService has no option '${name}'`)
  // Within these limits both date formats can represent every instant.
  checkNumber('accessLifetimeMs', accessLifetimeMs, 'above 0, at most 1e14', (value) => value > 0 && value <= 1e14)
  checkNumber('refreshLifetimeMs', refreshLifetimeMs, 'above 0, at most 1e14', (value) => value > 0 && value <= 1e14)
  // setTimeout wraps at 2^31-1 ms and then fires at once.
  checkNumber('latencyMs', latencyMs, 'from 0 to 2147483647', (value) => value >= 0 && value <= 2_147_483_647)
  checkNumber('clockOffsetMs', clockOffsetMs, 'from -5e13 to 5e13', (value) => Math.abs(value) <= 5e13)
  if (typeof dpopNonces !== 'boolean')
    throw new TypeError(`dpopNonces must be true or false, got ${String(dpopNonces)}`)
  checkWhole('port', port, 0, 65_535)
  if (throttle !== undefined) {
    // Object(null) has no members, so null is rejected by name like any other value.
    const { calls, windowMs } = Object(throttle) as typeof throttle
    checkWhole('throttle.calls', calls, 1, Number.MAX_SAFE_INTEGER)
    checkNumber('throttle.windowMs', windowMs, 'above 0', (value) => value > 0)
    throttle = { calls, windowMs }
  }
  return Object.freeze({ accessLifetimeMs, refreshLifetimeMs, throttle, latencyMs, clockOffsetMs, dpopNonces, port })
}

export function checkWhole(name: string, value: unknown, least: number, most: number): void {
  const holds = (n: number) => Number.isInteger(n) && n >= least && n <= most
  checkNumber(name, value, `a whole number from ${least} to ${most}`, holds)
}

function checkNumber(name: string, value: unknown, wanted: string, holds: (value: number) => boolean): void {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${String(value)}`)
  if (!Number.isFinite(value) || !holds(value)) throw new RangeError(`${name} must be ${wanted}, got ${value}`)
}

/**
 * Allows `calls` in any period of `windowMs` (a sliding window). A rejected call does not extend the wait.
 *
 * @returns A function to call for each request. It returns 0 if the request is allowed (and counted), else the ms until one would be allowed.
 */
export function slidingWindow({ calls, windowMs }: { calls: number; windowMs: number }): (now: number) => number {
  let allowedAt: number[] = []
  return (now) => {
    // Calls "in the future" were made before the clock was set back. If kept, they would block longer, by the size of the step.
    allowedAt = allowedAt.filter((at) => at > now - windowMs && at <= now)
    const [oldest] = allowedAt
    if (oldest !== undefined && allowedAt.length >= calls) return oldest + windowMs - now
    allowedAt.push(now)
    return 0
  }
}

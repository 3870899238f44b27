/** Runs all checks one after the other. @returns `[{ name, why }]`; `why`: how it failed. */
import { checksOn } from './checks.mjs'

export async function runChecks(origin) {
  const results = []
  for (const { name, run } of checksOn(origin)) {
    const why = await run().then(
      () => undefined,
      (error) => String(error?.stack ?? error),
    )
    results.push({ name, why })
  }
  return results
}

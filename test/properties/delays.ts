import * as fc from 'fast-check'
import type { Delays } from '../support/drawn-delays.ts'

/** A store whose steps each take their own time, or all the same. */
export const delays: fc.Arbitrary<Delays> = fc.record({
  seed: fc.nat(),
  mostMs: fc.constantFrom(0, 5, 20, 40, 100, 300),
  areEqual: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

/** Two of these delays are within the usual `commandTimeoutMs`. */
export const shortDelays: fc.Arbitrary<Delays> = delays.map(({ mostMs, ...drawn }) => ({
  ...drawn,
  mostMs: mostMs > 20 ? 0 : mostMs,
}))

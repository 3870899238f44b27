import * as fc from 'fast-check'

/** What a report names as next: another token request, or a cool-down, whose code each test adds. */
export const retries = fc.record({ kind: fc.constant('retry' as const), ms: fc.nat(5_000) })
export const COOL_DOWN = {
  kind: fc.constant('cool-down' as const),
  ms: fc.oneof(fc.nat(20_000), fc.constant(Infinity)),
  failures: fc.integer({ min: 1, max: 5 }),
  isFirm: fc.boolean(),
}

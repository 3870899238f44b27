import type { Parameters } from 'fast-check'

const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_PATH } = process.env

/**
 * How often a property is tried. `PROPERTY_RUNS` raises it; `PROPERTY_SEED` and `PROPERTY_PATH`, as a failure prints them,
 * repeat that failure.
 */
export function runs(usual: number): Pick<Parameters, 'numRuns' | 'seed' | 'path'> {
  return {
    numRuns: PROPERTY_RUNS === undefined ? usual : Math.max(usual, Number(PROPERTY_RUNS)),
    ...(PROPERTY_SEED !== undefined && { seed: Number(PROPERTY_SEED) }),
    ...(PROPERTY_PATH !== undefined && { path: PROPERTY_PATH }),
  }
}

/** A limit against hanging, for as many runs as were asked for. */
export const patience = (usual: number): number => Math.max(30_000, 200 * (runs(usual).numRuns ?? 0))

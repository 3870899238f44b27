import type { Parameters } from 'fast-check'
import { part, share } from '../support/part.ts'

const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_PATH } = process.env

/** The same cases on every machine, each day: with random cases, the gate would fail for changes that are not at fault. `npm run test:slow` has its own cases. */
const SEED = share(20_260_102, 20_260_101)

/** The seed of all draws. */
export const seed = Number(PROPERTY_SEED ?? (PROPERTY_RUNS === undefined ? SEED : Math.floor(Math.random() * 2 ** 31)))
if (seed !== SEED) process.stderr.write(`PROPERTY_SEED=${seed}\n`)

/**
 * How often a property is tested, and from which seed. `PROPERTY_RUNS` requests more cases than usual, and new cases each
 * time. `PROPERTY_SEED` and `PROPERTY_PATH`, as a failure prints them, repeat that failure.
 */
export function runs(usual: number): Pick<Parameters, 'numRuns' | 'seed' | 'path'> {
  return {
    numRuns: PROPERTY_RUNS === undefined ? usual : Math.max(usual, Number(PROPERTY_RUNS)),
    seed,
    ...(PROPERTY_PATH !== undefined && { path: PROPERTY_PATH }),
  }
}

/** How often a property is tested: in `npm test` a twelfth, and in `npm run test:slow` a quarter as often. */
export const usually = (runs: number): number => part(runs, Math.ceil(share(runs / 4, runs / 12)))

/** A limit against hanging, ms, for the number of runs. Every test of `npm test` has a minute. */
export const patience = (usual: number): number => share(Math.max(120_000, 2_000 * (runs(usual).numRuns ?? 0)), 60_000)

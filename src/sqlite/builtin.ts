import { builtinModule } from '../core/builtin-module.ts'

/** @returns A module of Node; undefined if the runtime does not have it. Nothing of it is loaded for callers that pass `database`. */
export const builtin = builtinModule as (id: string) => unknown

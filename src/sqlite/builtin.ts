import { builtinModule } from '../core/builtin-module.ts'

/** @returns A module of Node; undefined if the runtime does not have it. Not an import, so that callers that pass `database` need no node:sqlite. */
export const builtin = builtinModule as (id: string) => unknown

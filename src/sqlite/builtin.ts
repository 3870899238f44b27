import { builtinModule } from '../core/builtin-module.ts'

/** @returns A module of Node; undefined if the runtime does not have it. Node loads nothing of this for those who pass `database`. */
export const builtin = builtinModule as (id: string) => unknown

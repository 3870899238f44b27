import type * as Fs from 'node:fs'
import { quietly } from '../core/thrown.ts'
import type { MachineInstant } from '../core/lease.ts'
import { builtin } from './builtin.ts'

interface Runtime {
  readonly process?: {
    readonly versions: { readonly bun?: string; readonly deno?: string }
    readonly hrtime: { bigint(): bigint }
  }
}

let known: readonly [boot: string | undefined] | undefined

/** The monotonic time of this machine. @returns undefined if the system does not name its boot, or the runtime counts from the start of its process. */
export function machineNow(): MachineInstant | undefined {
  const { process } = globalThis as Runtime
  known ??= [process && !process.versions.bun && !process.versions.deno ? bootOf() : undefined]
  const [boot] = known
  return process && boot !== undefined ? { boot, at: Number(process.hrtime.bigint()) / 1e6 } : undefined
}

/** The id of this boot (Linux), and the time namespace, because a container may have a monotonic clock of its own. */
function bootOf(): string | undefined {
  const fs = builtin('node:fs') as typeof Fs | undefined
  const boot = quietly(() => fs?.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  return boot && `${boot} ${quietly(() => fs?.readlinkSync('/proc/self/ns/time')) ?? ''}`
}

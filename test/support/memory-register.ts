import type { Clock } from '../../src/index.ts'
import type { RegisterReading, TokenRegister } from '../../src/store/index.ts'

/** A register in memory, which represents one server. */
export class MemoryRegister implements TokenRegister {
  readonly kind = 'memory-register'
  readonly values = new Map<string, { value: string; until: number }>()
  readonly #clock: Pick<Clock, 'wallNow'>
  epoch: string | null | undefined

  constructor(clock: Pick<Clock, 'wallNow'> = { wallNow: () => Date.now() }) {
    this.#clock = clock
  }

  async read(key: string): Promise<RegisterReading> {
    const value = this.#at(key)
    return {
      now: this.#clock.wallNow(),
      ...(value !== undefined && { value }),
      ...(this.epoch !== undefined && { epoch: this.epoch }),
    }
  }

  async replace(...[key, expected, value, keepMs, epoch]: Parameters<TokenRegister['replace']>): Promise<boolean> {
    if (this.#at(key) !== expected || (epoch !== undefined && epoch !== this.epoch)) return false
    this.values.set(key, { value, until: this.#clock.wallNow() + keepMs })
    return true
  }

  #at(key: string): string | undefined {
    const stored = this.values.get(key)
    return stored && stored.until > this.#clock.wallNow() ? stored.value : undefined
  }
}

/** A register that notifies its watchers of each change, like that of browsers. */
export class WatchedRegister extends MemoryRegister {
  readonly watchers = new Set<() => void>()

  override async replace(...given: Parameters<TokenRegister['replace']>): Promise<boolean> {
    const replaced = await super.replace(...given)
    if (replaced) for (const onChange of this.watchers) onChange()
    return replaced
  }

  watch(onChange: () => void): () => void {
    this.watchers.add(onChange)
    return () => void this.watchers.delete(onChange)
  }
}

/**
 * Keeps one short text per key for all owners of an account. Both steps are linearizable: every owner sees them in one order, and that order agrees with real
 * time. `tokenRegisterChecks` of `axios-evergreen/testing` checks an implementation.
 */
export interface TokenRegister {
  /** Names the register in messages, such as `redis`. */
  readonly kind: string
  /** How many steps the client can run at once, such as the size of its connection pool. Absent: the store measures how many have a response in time. */
  readonly capacity?: number | undefined
  read(key: string): Promise<RegisterReading>
  /**
   * Stores `value` if the current value is `expected` (undefined: there is none). The register may drop the value after `keepMs`, a hundred years at most.
   *
   * @param epoch The epoch of the reading that `value` was computed from. In another epoch the register stores nothing. Undefined: the reading had none.
   * @returns Whether `value` was stored. Rejects if that is not known.
   */
  replace(key: string, expected: string | undefined, value: string, keepMs: number, epoch?: string): Promise<boolean>
  /**
   * Calls back when a value may have changed, with its key; without a key when any value may have changed, such as after a lost connection. Not async.
   * Absent: waiting owners read about once a second.
   *
   * @returns A function that stops the watch.
   */
  watch?(onChange: (key?: string) => void): () => void
  /**
   * Whether `watch` currently misses no change. Owners of a login then read the register only when their key has changed, instead of every `maxStalenessMs`.
   * When the result changes, call back without a key. Absent: owners of a login watch only while they wait.
   */
  isWatching?(): boolean
}

export interface RegisterReading {
  /** Undefined: there is no value. */
  readonly value?: string | undefined
  /** Epoch ms by the one clock that all owners of this register share. */
  readonly now: number
  /**
   * Changes whenever acknowledged writes may have been lost (a restart from a snapshot, a failover). Absent: the register never loses acknowledged writes.
   * Null: the register is not permitted to read it.
   */
  readonly epoch?: string | null | undefined
  /** When the epoch began, epoch ms by the same clock, if the register knows. Absent: when this process first saw it. */
  readonly epochAt?: number | undefined
}

/**
 * One short text per key, shared by all owners of an account. Both steps are linearizable: every owner sees them in one order, and
 * that order agrees with real time. `tokenRegisterChecks` of `axios-evergreen/testing` holds an implementation to it.
 */
export interface TokenRegister {
  /** Names the register in messages, such as `redis`. */
  readonly kind: string
  read(key: string): Promise<RegisterReading>
  /**
   * Puts `value` there if `expected` is what stands there (undefined: nothing does). The value may be dropped after `keepMs`.
   *
   * @returns Whether it was put there. Rejects where that is not known.
   */
  replace(key: string, expected: string | undefined, value: string, keepMs: number): Promise<boolean>
  /** Calls back when any value may have changed. Absent: those who wait for a change ask again every second. @returns stop */
  watch?(onChange: () => void): () => void
}

export interface RegisterReading {
  /** Undefined: nothing stands there. */
  readonly value?: string | undefined
  /** Epoch ms by the one clock that all owners of this register share. */
  readonly now: number
  /**
   * Changes whenever writes that were acknowledged may have been lost (a restart from a snapshot, a failover). Absent: that cannot
   * happen.
   */
  readonly epoch?: string | undefined
}

import type { RecordState } from '../../src/record/record-shape.ts'

/** One obtain of an owner. At this service, an obtain ends the earlier sessions of the account. */
interface Obtain {
  readonly owner: string
  /** Whether the owner made the obtain without the store. */
  readonly isPrivate: boolean
  /** Index of the last stored token set of which the record can know that this obtain ended its session. */
  marksUpTo: number
  isSettled: boolean
  isGivenUp: boolean
  /** The service acted on the obtain after its owner had timed out. */
  isLate: boolean
}

/**
 * What the record can know of obtains that end the sessions of stored token sets. A rejection may look like theft only if the
 * record knew of none of these obtains (docs/evidence/protocol.md, known limits).
 */
export class Knowledge {
  readonly #obtains = new Map<string, Obtain>()
  /** Refresh tokens that were stored, oldest first. */
  readonly #stored = new Set<string>()
  readonly #adopted = new Set<string>()
  /** By owner: how many token sets were stored when that owner last found the record marked, or marked it. */
  readonly #told = new Map<string, number>()

  isStored(refreshToken: string): boolean {
    return this.#stored.has(refreshToken)
  }

  /** Unless the obtain is private, the record holds its lease. If the lease expires, the next token set is marked. */
  begins(id: string, owner: string, isPrivate: boolean): void {
    const marksUpTo = isPrivate ? -1 : this.#stored.size
    this.#obtains.set(id, { owner, isPrivate, marksUpTo, isSettled: false, isGivenUp: false, isLate: false })
  }

  givesUp(id: string): void {
    const obtain = this.#obtains.get(id)
    if (obtain) obtain.isGivenUp = true
  }

  acts(id: string): void {
    const obtain = this.#obtains.get(id)
    if (obtain?.isGivenUp) obtain.isLate = true
  }

  /** The token set of the obtain is stored, or a later one is. The record can mark that token set, and the one of a pending lease. */
  settles(id: string): void {
    const obtain = this.#obtains.get(id)
    if (!obtain) return
    obtain.marksUpTo = this.#stored.size
    obtain.isSettled = true
  }

  /** The record cannot know when the user logged in. */
  adopts(refreshToken: string): void {
    this.#adopted.add(refreshToken)
  }

  /** The record is lost, with all its knowledge. */
  isLost(): void {
    this.#told.clear()
    for (const obtain of this.#obtains.values()) obtain.marksUpTo = -1
  }

  stores(refreshToken: string): void {
    this.#stored.add(refreshToken)
  }

  /**
   * An owner finds the record marked, or marks it. Now the record knows of the private obtains of that owner: the
   * stored token set is marked, and the next one.
   */
  learns(owner: string, state: RecordState | undefined): void {
    const isMarked = state?.overlaps === true && state.tokens?.overlapped !== false
    if (isMarked) this.#told.set(owner, this.#stored.size)
  }

  /** @param endedBy The obtains that ended the session. @returns Whether the record can explain the rejection to `owner`. */
  explains(owner: string, refreshToken: string, endedBy: readonly string[]): boolean {
    return (
      !this.isStored(refreshToken) ||
      endedBy.length === 0 ||
      endedBy.some((id) => this.#knows(this.#obtains.get(id)!, owner, refreshToken))
    )
  }

  #knows(obtain: Obtain, owner: string, refreshToken: string): boolean {
    const index = [...this.#stored].indexOf(refreshToken)
    if (obtain.isLate) return false
    // The obtain had ended when the login was stored. It may have ended even before the login: the record cannot know.
    if (obtain.isSettled && this.#adopted.has(refreshToken) && index >= obtain.marksUpTo) return false
    if (!obtain.isPrivate) return index <= obtain.marksUpTo
    return obtain.owner === owner || index <= (this.#told.get(obtain.owner) ?? -1)
  }

  get key(): string {
    const obtains = [...this.#obtains].map(([id, { isPrivate, marksUpTo, isSettled, isGivenUp, isLate }]) =>
      [id, isPrivate, marksUpTo, isSettled, isGivenUp, isLate].join(),
    )
    return [obtains.sort().join(';'), [...this.#told].sort().join(), [...this.#stored].join()].join(' ')
  }
}

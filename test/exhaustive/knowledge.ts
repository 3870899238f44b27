import type { RecordState } from '../../src/core/record-shape.ts'

/** An obtain of an owner, at a service where it ends the earlier sessions of the account. */
interface Obtain {
  readonly owner: string
  /** Without the store. */
  readonly isPrivate: boolean
  /** Of the pairs that were stored, the last whose session the record can know to have been ended by it. */
  marksUpTo: number
  isSettled: boolean
  isGivenUp: boolean
  /** The service acted on it when its owner had given up on it. */
  isLate: boolean
}

/**
 * What the record can know of obtains that end the sessions of stored pairs. A refusal may look like theft only where it cannot know of any of them
 * (docs/protocol.md, the limits).
 */
export class Knowledge {
  readonly #obtains = new Map<string, Obtain>()
  /** Refresh tokens that were stored, oldest first. */
  readonly #stored = new Set<string>()
  readonly #adopted = new Set<string>()
  /** How many of them there were when an owner last found, or left, the record marked. By its name. */
  readonly #told = new Map<string, number>()

  isStored(refreshToken: string): boolean {
    return this.#stored.has(refreshToken)
  }

  /** The claim stands in the record: if it runs out, the next pair is marked. */
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

  /** Its pair is stored, or met a later one. Both are marked, if need be, and that of a claim that is open. */
  settles(id: string): void {
    const obtain = this.#obtains.get(id)
    if (!obtain) return
    obtain.marksUpTo = this.#stored.size
    obtain.isSettled = true
  }

  /** Nobody tells the record when the person logged in. */
  adopts(refreshToken: string): void {
    this.#adopted.add(refreshToken)
  }

  /** The record, with all that it knows. */
  isLost(): void {
    this.#told.clear()
    for (const obtain of this.#obtains.values()) obtain.marksUpTo = -1
  }

  stores(refreshToken: string): void {
    this.#stored.add(refreshToken)
  }

  /** An owner that finds the record marked, or marks it, has told it of its private obtains: the stored pair is marked, and the next one. */
  learns(owner: string, state: RecordState | undefined): void {
    const isMarked = state?.overlaps === true && state.pair?.overlapped !== false
    if (isMarked) this.#told.set(owner, this.#stored.size)
  }

  /** @param endedBy The obtains that ended its session. @returns Whether the record can tell `owner` why its refresh token was refused. */
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
    // It had ended when the login was stored, and may as well have ended before the login.
    if (obtain.isSettled && this.#adopted.has(refreshToken) && index >= obtain.marksUpTo) return false
    if (!obtain.isPrivate) return index <= obtain.marksUpTo
    return obtain.owner === owner || index <= (this.#told.get(obtain.owner) ?? -1)
  }

  get key(): string {
    const obtains = [...this.#obtains].map(([id, { marksUpTo, isSettled, isGivenUp, isLate }]) =>
      [id, marksUpTo, isSettled, isGivenUp, isLate].join(),
    )
    return [obtains.sort().join(';'), [...this.#told].sort().join(), [...this.#stored].join()].join(' ')
  }
}

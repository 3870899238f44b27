import type { Owner } from './owner.ts'
import { reach } from './reached.ts'
import type { Presentation } from './watch.ts'

/** After a loss the owners have this long to check the record: the default `maxStalenessMs`. */
const STALENESS_MS = 30_000

/** After an older record has come back, a login must not lose what an owner knows that uses the store (R11). */
export class RestoreRules {
  readonly #fail: (what: string) => void
  #isRestored = false
  /** When an owner first read the older record. */
  #seenAt: number | undefined
  /** Owners that have read the older record, and those that have completed a step of the store since. */
  readonly #readers = new Set<string>()
  readonly #inContact = new Set<string>()

  constructor(fail: (what: string) => void) {
    this.#fail = fail
  }

  /** No owner writes back a record that is gone. */
  isLost(how: 'flush' | 'restore'): void {
    this.#isRestored = how === 'restore'
    this.#seenAt = undefined
    this.#readers.clear()
    this.#inContact.clear()
  }

  isRead({ name }: Owner, now: number): void {
    if (!this.#isRestored) return
    this.#seenAt ??= now
    this.#readers.add(name)
  }

  /** A step of the store has ended. */
  hasStepped({ name }: Owner): void {
    if (!this.#readers.has(name)) return
    this.#inContact.add(name)
    reach('R11: an owner reads an older record')
  }

  /** @param last The last presentation of the same refresh token. */
  presents({ name }: Owner, last: Presentation | undefined, now: number): void {
    if (!this.#isRestored || last?.ending !== 'accepted') return
    const how = `${name} presents again what ${last.owner} presented (accepted)`
    if (this.#inContact.has(last.owner)) this.#fail(`${how}, and ${last.owner} has used the store since the loss`)
    const waitedMs = now - (this.#seenAt ?? now)
    if (waitedMs < STALENESS_MS) this.#fail(`${how}, ${waitedMs} ms after the loss was seen`)
  }

  /** An owner reports that a login is required. @param isRejected Whether the service has rejected a refresh token. */
  ended({ name }: Owner, reason: string | undefined, isRejected: boolean): void {
    if (this.#isRestored && reason === 'lost' && !isRejected)
      this.#fail(`the login of ${name} ends (lost), and the service has rejected nothing`)
  }

  get key(): string {
    return [this.#isRestored, this.#seenAt, ...this.#readers, '', ...this.#inContact].join()
  }
}

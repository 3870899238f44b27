/**
 * Which requests belong to the login of now (R10). A request notes the mark under which it begins. The login of now has all requests from `since` on: those
 * that began in it, and those that waited for it. A request waits for the next login if it began after the last one had ended, or after everybody had heard
 * that it is lost.
 */
export class LoginGenerations {
  /** The mark of whoever asks now. */
  current = 0
  /** The first mark that belongs to the login of now. */
  first = 0
  /** Whether whoever asks now waits for the next login: the last one has ended, or everybody has heard that it is lost. */
  isAwaited = false
  /** Whether this manager has known a login, or the end of one. Whoever asked before gets the first login that comes. */
  hasStarted = false

  /** Whether whoever asked under `mark` waits for the next login. */
  belongsToNext(generation: number): boolean {
    return this.isAwaited && generation === this.current
  }

  /** Everybody hears that the login is lost. */
  lossReported(): void {
    if (!this.isAwaited) this.current += 1
    this.#await()
  }

  /** The login ends, for everybody who has asked so far. */
  end(): void {
    this.current += 1
    this.first = this.current
    this.#await()
  }

  #await(): void {
    this.isAwaited = true
    this.hasStarted = true
  }

  /** The login of now serves, for the first time or again: whoever asks now asks in it. */
  started(): void {
    this.isAwaited = false
    this.hasStarted = true
  }

  /** Another login takes the place of the one before. */
  replaced(): void {
    if (!this.isAwaited) this.current += 1
    this.first = this.current
    this.started()
  }
}

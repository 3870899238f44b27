/**
 * Tracks which requests belong to the current login (R10). A request notes the login generation in which it begins. All generations from `first` on belong
 * to the current login: requests that began in it, and those that waited for it. A request waits for the next login if it began after the last one had
 * ended or was reported as lost.
 */
export class LoginGenerations {
  /** The generation of a request that begins now. */
  current = 0
  /** The first generation of the current login. */
  first = 0
  /** Whether a request that begins now waits for the next login: the last one has ended, or was reported as lost. */
  isAwaited = false
  /** Whether this manager has known a login, or the end of one. Earlier requests belong to the first login. */
  hasStarted = false

  /** Whether requests of `generation` wait for the next login. */
  belongsToNext(generation: number): boolean {
    return this.isAwaited && generation === this.current
  }

  /** Called when the loss of the login is reported. */
  lossReported(): void {
    if (!this.isAwaited) this.current += 1
    this.#await()
  }

  /** Ends the login for all requests so far. */
  end(): void {
    this.current += 1
    this.first = this.current
    this.#await()
  }

  #await(): void {
    this.isAwaited = true
    this.hasStarted = true
  }

  /** Called when the login can be used, for the first time or again. Requests from now on belong to it. */
  started(): void {
    this.isAwaited = false
    this.hasStarted = true
  }

  /** Called when another login replaces the current one. */
  replaced(): void {
    if (!this.isAwaited) this.current += 1
    this.first = this.current
    this.started()
  }
}

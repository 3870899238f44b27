/**
 * Which requests belong to the login of now (R10). A request notes the mark under which it begins, and belongs to each login whose `since` is not above it:
 * that in which it began; and if it began after that one had ended, or everybody had heard that it is lost, the next one, because it waits for that.
 */
export class LoginMarks {
  /** The mark of whoever asks now. */
  now = 0
  /** The first mark that belongs to the login of now. */
  since = 0
  /** Whether there is no login, as everybody has heard: whoever asks now waits for the next one. */
  isAwaited = false

  /** Whether whoever asked under `mark` waits for the next login. */
  isOfNext(mark: number): boolean {
    return this.isAwaited && mark === this.now
  }

  /** Everybody hears that the login is lost. */
  told(): void {
    if (!this.isAwaited) this.now += 1
    this.isAwaited = true
  }

  /** The login ends, for everybody who has asked so far. */
  end(): void {
    this.now += 1
    this.since = this.now
    this.isAwaited = true
  }

  /** There is a login. */
  came(): void {
    this.isAwaited = false
  }

  /** Another login takes the place of the one before. */
  next(): void {
    if (!this.isAwaited) this.now += 1
    this.since = this.now
    this.isAwaited = false
  }
}

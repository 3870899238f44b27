/**
 * Which requests belong to the login of now (R10). A request notes the mark under which it begins, and belongs to each login whose `since` is not above it:
 * that in which it began; and if it began after everybody had heard that this one is lost, the next one, because it waits for that.
 */
export class LoginMarks {
  /** The mark of whoever asks now. */
  now = 0
  /** The first mark that belongs to the login of now. */
  since = 0
  /** Whether everybody has heard that the login is lost. */
  isTold = false

  /** Whether whoever asked under `mark` waits for the next login. */
  isOfNext(mark: number): boolean {
    return this.isTold && mark === this.now
  }

  /** Everybody hears that the login is lost. Whoever asks from now on waits for the next one. */
  told(): void {
    if (!this.isTold) this.now += 1
    this.isTold = true
  }

  /** There is a login. */
  came(): void {
    this.isTold = false
  }

  /** The login ends, for everybody who has asked so far. */
  end(): void {
    this.now += 1
    this.since = this.now
  }

  /** Another login takes the place of this one. */
  next(): void {
    if (this.isTold) this.since = this.now
    else this.end()
    this.isTold = false
  }
}

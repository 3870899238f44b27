interface Flight<Value> {
  readonly ended: Promise<unknown>
  /** Begins when this flight has ended. */
  next: Promise<Value> | undefined
}

/**
 * Shares runs among the owners of one account in one process. A call during a run shares the next run, which begins after the call, so no result is older
 * than its call.
 */
export class Together<Value> {
  readonly #flights = new Map<string, Flight<Value>>()

  run(key: string, work: () => Promise<Value>): Promise<Value> {
    const flight = this.#flights.get(key)
    if (!flight) return this.#begin(key, work)
    return (flight.next ??= flight.ended.then(() => this.#begin(key, work)))
  }

  #begin(key: string, work: () => Promise<Value>): Promise<Value> {
    const value = work()
    const end = () => {
      if (!flight.next) this.#flights.delete(key)
    }
    const flight: Flight<Value> = { ended: value.then(end, end), next: undefined }
    this.#flights.set(key, flight)
    return value
  }
}

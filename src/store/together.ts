interface Flight<Value> {
  readonly ended: Promise<unknown>
  /** Begins when this flight has ended. */
  next?: Promise<Value>
}

/**
 * What several owners of one account in one process do together. A call that comes while a run is under way shares the next run. That one begins after
 * the call, so no answer is older than its question.
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
    const flight: Flight<Value> = { ended: value.then(end, end) }
    this.#flights.set(key, flight)
    return value
  }
}

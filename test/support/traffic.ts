import { settle } from './watched-clock.ts'

/** Counts the commands to a server. `idle` waits until the server has responded to all of them, while virtual time stands still. */
export class Traffic {
  commands = 0
  #inFlight = 0

  readonly counted =
    <Args extends unknown[], Reply>(send: (...args: Args) => Promise<Reply>) =>
    async (...args: Args): Promise<Reply> => {
      this.commands += 1
      this.#inFlight += 1
      return send(...args).finally(() => (this.#inFlight -= 1))
    }

  async idle(): Promise<void> {
    do await settle()
    while (this.#inFlight > 0)
    await settle()
  }
}

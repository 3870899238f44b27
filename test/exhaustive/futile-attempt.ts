import type { Owner } from './owner.ts'

/** What the reduction must know of a message. */
interface Sent {
  readonly id: string
  readonly what: string
  readonly sentAt: number
}

/** What was known of an owner before it received the content of the register. */
interface Mark {
  readonly story: string
  readonly sent: number
  readonly drawn: number
  readonly timers: string
  readonly at: number
}

interface Attempt extends Mark {
  readonly replaceId: string
  readonly storyAfter: string
}

/**
 * The reduction of the search. An owner reads, and its replace finds that another owner was faster. Then it reads again, and has forgotten what it had
 * read: its state is the previous one, except for the number of attempts, which never comes near its limit here. So its story goes back, too. Without
 * that, each order of such attempts would count as a separate state.
 */
export class VainAttempts {
  readonly #attempts = new Map<Owner, Attempt>()

  /** Before an owner receives a response. `others`: its other messages in transit. */
  before(owner: Owner, { id, what, sentAt }: Sent, others: number): Mark | undefined {
    const isLatest = id === `${owner.name}${owner.sent}` && sentAt === owner.time()
    if (what !== 'read' || others > 0 || !isLatest || owner.hasTrouble) return undefined
    return { story: owner.story, sent: owner.sent, drawn: owner.drawn, timers: owner.timers, at: owner.time() }
  }

  /** After that. `sent`: the messages of the owner in transit now. */
  after(owner: Owner, mark: Mark | undefined, sent: readonly Sent[]): void {
    this.#attempts.delete(owner)
    const [replace] = sent
    if (!mark || sent.length !== 1 || !replace || owner.sent !== mark.sent + 1) return
    if (replace.what !== 'replace' && replace.what !== 'create') return
    this.#attempts.set(owner, { ...mark, replaceId: replace.id, storyAfter: owner.story })
  }

  /** @returns The vain attempt, if the replace `id` belongs to it and the owner received nothing since. The owner now forgets it. */
  forgotten(owner: Owner, id: string): Attempt | undefined {
    const attempt = this.#attempts.get(owner)
    if (attempt?.replaceId !== id || attempt.storyAfter !== owner.story || attempt.at !== owner.time()) return undefined
    if (owner.hasTrouble) return undefined
    owner.story = attempt.story
    owner.sent = attempt.sent - 1
    owner.drawn = attempt.drawn
    return attempt
  }

  /** @throws Error if the owner is not as it was before the attempt: then the reduction would be wrong. */
  check(owner: Owner, { sent: number, timers }: Attempt, sent: readonly Sent[]): void {
    const [read] = sent
    const isAsBefore = sent.length === 1 && read?.what === 'read' && read.id === `${owner.name}${number}`
    if (!isAsBefore || owner.timers !== timers) throw new Error(`${owner.name} does not repeat a step as it began it`)
  }
}

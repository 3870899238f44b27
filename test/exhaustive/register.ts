import type { RecordState } from '../../src/core/record-shape.ts'
import type { RegisterReading } from '../../src/store/index.ts'
import { hashOf } from './hash.ts'

/** Its clock's reading when a run begins. Owners' own clocks read something else, each another thing. */
const BEGUN_AT = Date.UTC(2026, 0, 1)

/** What a loss takes. In fewer milliseconds than there were claims fences would begin again where they were. */
const LOSS_MS = 20

/** The register that all owners share: one key, a clock of its own, and what can happen to it. */
export class Register {
  text: string | undefined
  state: RecordState | undefined
  /** All texts that stood here, oldest first. */
  readonly past: string[] = []
  #hash = ''
  #pastHash = ''
  readonly #tellsEpoch: boolean
  #epoch = 1
  #offsetMs = 0

  constructor(tellsEpoch: boolean) {
    this.#tellsEpoch = tellsEpoch
  }

  now(now: number): number {
    return BEGUN_AT + this.#offsetMs + now
  }

  read(now: number): RegisterReading {
    return {
      now: this.now(now),
      ...(this.text !== undefined && { value: this.text }),
      ...(this.#tellsEpoch && { epoch: `epoch-${this.#epoch}` }),
    }
  }

  replace(expected: string | undefined, value: string): boolean {
    if (this.text !== expected) return false
    this.#set(value)
    this.past.push(value)
    this.#pastHash = hashOf(this.#pastHash + this.#hash)
    return true
  }

  flush(takesNoTime: boolean): void {
    this.#set(undefined)
    if (!takesNoTime) this.#offsetMs += LOSS_MS
  }

  /** An older text comes back, as from a snapshot; a register that tells its epoch tells a new one. */
  restore(index: number): void {
    this.#set(this.past[index])
    this.#epoch += 1
    this.#offsetMs += LOSS_MS
  }

  stepClock(ms: number): void {
    this.#offsetMs += ms
  }

  /** @param withPast Whether an older text may come back yet. */
  key(withPast: boolean): string {
    return `${this.#hash} ${this.#epoch} ${this.#offsetMs} ${withPast ? this.#pastHash : ''}`
  }

  #set(text: string | undefined): void {
    this.text = text
    this.state = text === undefined ? undefined : stateIn(text)
    this.#hash = hashOf(text ?? '')
  }
}

/** What stands in a text: without keys it is readable. */
function stateIn(text: string): RecordState {
  return JSON.parse((JSON.parse(text) as { box: string }).box) as RecordState
}

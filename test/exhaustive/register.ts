import type { RecordState } from '../../src/record/record-shape.ts'
import type { RegisterReading } from '../../src/store/index.ts'
import { hashOf } from './hash.ts'
import { reach } from './reached.ts'

/** The reading of the register's clock at the start of a run. The clocks of the owners have other readings. */
const BEGUN_AT = Date.UTC(2026, 0, 1)

/** How long a loss takes. In fewer ms than there were leases, fences would start again at values that were in use. */
const LOSS_MS = 20

export interface Replace {
  readonly expected: string | undefined
  readonly value: string
  readonly keepMs: number
  /** The epoch of the reading from which `value` was computed. In another one the register stores nothing (R9). */
  readonly epoch: string | undefined
}

/** The register that all owners share: one key, its own clock, and the faults that can happen to it. */
export class Register {
  text: string | undefined
  state: RecordState | undefined
  /** All texts that the register has held, oldest first. */
  readonly past: string[] = []
  #hash = ''
  #pastHash = ''
  readonly #tellsEpoch: boolean
  #epoch = 1
  /** When the register drops the text. */
  #until = Infinity
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
      ...(this.holds(now) && { value: this.text! }),
      ...(this.#tellsEpoch && { epoch: this.#epochName }),
    }
  }

  /** Whether there is a text that the register still keeps. */
  holds(now: number): boolean {
    if (this.now(now) >= this.#until) this.#set(undefined)
    return this.text !== undefined
  }

  replace({ expected, value, keepMs, epoch }: Replace, now: number): boolean {
    if ((this.holds(now) ? this.text : undefined) !== expected) return false
    if (epoch !== undefined && epoch !== this.#epochName) {
      reach('R9: a replace from another epoch does nothing')
      return false
    }
    this.#set(value)
    this.#until = this.now(now) + keepMs
    this.past.push(value)
    this.#pastHash = hashOf(this.#pastHash + this.#hash)
    return true
  }

  flush(takesNoTime: boolean): void {
    this.#set(undefined)
    if (!takesNoTime) this.#offsetMs += LOSS_MS
  }

  /** An older text is restored, as from a snapshot. A register that reports its epoch then reports a new one. */
  restore(index: number): void {
    this.#set(this.past[index])
    this.#epoch += 1
    this.#offsetMs += LOSS_MS
  }

  /** Nothing is lost, but no owner can know that. */
  restart(): void {
    this.#epoch += 1
  }

  stepClock(ms: number): void {
    this.#offsetMs += ms
  }

  get key(): string {
    return `${this.#hash} ${this.#epoch} ${this.#offsetMs}`
  }

  /** Represents all older texts: one of them may still be restored. */
  get pastKey(): string {
    return this.#pastHash
  }

  get #epochName(): string {
    return `epoch-${this.#epoch}`
  }

  #set(text: string | undefined): void {
    this.#until = Infinity
    this.text = text
    this.state = text === undefined ? undefined : stateIn(text)
    this.#hash = hashOf(text ?? '')
  }
}

/** @returns The state in a text. Without encryption keys, a text is readable. */
function stateIn(text: string): RecordState {
  return JSON.parse((JSON.parse(text) as { box: string }).box) as RecordState
}

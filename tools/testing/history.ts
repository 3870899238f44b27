import { randomUUID } from 'node:crypto'

/** The same as `TokenRegister` of `axios-evergreen/store`. */
export interface CheckedRegister {
  readonly kind: string
  read(
    key: string,
  ): Promise<{ readonly value?: string | undefined; readonly now: number; readonly epoch?: string | null | undefined }>
  replace(key: string, expected: string | undefined, value: string, keepMs: number, epoch?: string): Promise<boolean>
}

/** One step of a register, as its caller observed it. All instants are of one clock. Plain data, so that processes can serialize it. */
export interface Step {
  readonly id: string
  readonly key: string
  readonly does: 'read' | 'replace'
  readonly begunAt: number
  /** Absent: there was no result. Such a `replace` may be executed at any later time, or never. */
  readonly endedAt?: number
  /** What a `read` found, or what a `replace` stores. Absent: there was no text. */
  readonly value?: string | undefined
  /** What a `replace` expects. Absent: that there is no text. */
  readonly expected?: string | undefined
  /** The result of a `replace`. */
  readonly replaced?: boolean
  /** The epoch of a reading, or of the reading from which `value` was computed. */
  readonly epoch?: string | null | undefined
}

/**
 * Records the steps of a register: once when they begin, and again, with the same `id`, when they end.
 *
 * @param now In ms. Default: the monotonic clock, which all processes of one machine share.
 */
export function recorded(
  register: CheckedRegister,
  note: (step: Step) => void,
  now = () => Number(process.hrtime.bigint()) / 1e6,
): CheckedRegister {
  async function noted<Answer>(
    step: Pick<Step, 'key' | 'does' | 'value' | 'expected' | 'epoch'>,
    run: () => Promise<Answer>,
    told: (answer: Answer) => Partial<Step>,
  ): Promise<Answer> {
    const begun: Step = { id: randomUUID(), ...step, begunAt: now() }
    note(begun)
    const answer = await run()
    note({ ...begun, endedAt: now(), ...told(answer) })
    return answer
  }
  return {
    ...register,
    kind: register.kind,
    read: (key) =>
      noted(
        { key, does: 'read' },
        () => register.read(key),
        ({ value, epoch }) => ({ value, epoch }),
      ),
    replace: (key, expected, value, keepMs, epoch) =>
      noted(
        { key, does: 'replace', expected, value, epoch },
        () => register.replace(key, expected, value, keepMs, epoch),
        (replaced) => ({ replaced }),
      ),
  }
}

/**
 * Searches for an order in which a register without concurrency could have executed the steps (linearizability). Each text must be passed to only one
 * `replace`. Then a replaced text never returns, and the order of the texts follows from what was expected. The search takes O(n log n) time.
 *
 * If a register deletes texts too early, there is no such order. Each epoch is checked separately, because a restore may bring back any text.
 *
 * @param notes If a step was recorded twice, its last note counts.
 * @returns What cannot be explained, without any text; undefined: there is such an order.
 */
export function unexplainedIn(notes: Iterable<Step>): string | undefined {
  const steps = new Map<string, Step>()
  for (const step of notes) steps.set(step.id, step)
  const places = new Map<string, Step[]>()
  for (const step of steps.values()) {
    // A read without a result proves nothing.
    if (step.does === 'read' && step.endedAt === undefined) continue
    const place = JSON.stringify([step.key, step.epoch ?? null])
    const others = places.get(place)
    if (others) others.push(step)
    else places.set(place, [step])
  }
  for (const own of places.values()) {
    const hasOtherEpochs = [...places.values()].some(([other]) => other !== own[0] && other?.key === own[0]?.key)
    const flaw = flawIn(own, hasOtherEpochs)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

/** No text has been seen yet. */
const UNKNOWN = Symbol('unknown')
type State = string | undefined | typeof UNKNOWN

/** @param mayEnd There are other epochs. Once its epoch has ended, a `replace` returns false. */
function flawIn(steps: Step[], mayEnd: boolean): string | undefined {
  steps.sort((one, other) => one.begunAt - other.begunAt)
  const { first, successors } = textsOf(steps)
  let state: State = first
  /** Steps that have begun and ended, but are not placed yet. A step may come next only if none of these had ended before it began. */
  const waiting = new Set<Step>()
  const unanswered = new Set<Step>()
  for (let begun = 0; ;) {
    let horizon = Math.min(...[...waiting].map(endOf))
    for (let step = steps[begun]; step && step.begunAt <= horizon; step = steps[(begun += 1)]) {
      if (step.endedAt === undefined) unanswered.add(step)
      else waiting.add(step)
      horizon = Math.min(horizon, endOf(step))
    }
    if (waiting.size === 0) return undefined
    const explained = [...waiting].filter((step) => isExplained(step, state))
    for (const step of explained) waiting.delete(step)
    if (explained.length > 0) continue
    const must = successors.get(state)
    const isThere = must && (waiting.has(must) || unanswered.has(must))
    // Without such a step, no read has found what the unanswered steps store, so any of them can explain why an expected text was gone.
    const next = must ? (isThere ? must : undefined) : unseenAfter(state, unanswered, waiting)
    if (next) {
      waiting.delete(next)
      unanswered.delete(next)
      state = next.value
      continue
    }
    const rest = [...waiting, ...steps.slice(begun)]
    if (mayEnd && rest.every(({ replaced, endedAt }) => replaced === false || endedAt === undefined)) return undefined
    return flawOf(waiting, steps)
  }
}

const endOf = ({ endedAt = Infinity }: Step) => endedAt

/** A step that changes nothing. It is placed as early as possible, which hinders no other step. */
function isExplained({ does, value, expected, replaced }: Step, state: State): boolean {
  return does === 'read' ? value === state : replaced === false && expected !== state
}

/** @returns The first text, and for each text the `replace` that must have followed it. */
function textsOf(steps: readonly Step[]): { first: State; successors: Map<State, Step> } {
  const stored = new Map<string | undefined, Step>()
  for (const step of steps) if (step.does === 'replace' && step.replaced !== false) stored.set(step.value, step)
  const successors = new Map<State, Step>()
  const seen = new Set<string | undefined>()
  let first: State = UNKNOWN
  const see = (value: string | undefined) => {
    for (let text = value; !seen.has(text);) {
      seen.add(text)
      const by = stored.get(text)
      if (!by) {
        // The steps are in the order in which they began. If there are two such texts, one of them cannot be explained.
        if (first === UNKNOWN) first = text
        return
      }
      successors.set(by.expected, by)
      text = by.expected
    }
  }
  for (const step of steps)
    if (step.does === 'read') see(step.value)
    else if (step.replaced === true) see(step.value)
  return { first, successors }
}

function unseenAfter(state: State, unanswered: ReadonlySet<Step>, waiting: ReadonlySet<Step>): Step | undefined {
  const possible = [...unanswered].filter(({ expected }) => expected === state)
  const isExpected = ({ value }: Step) => [...waiting].some(({ expected }) => expected === value)
  return possible.find((step) => !isExpected(step)) ?? possible[0]
}

/** Describes the step that ended first among those that cannot come next. */
function flawOf(waiting: ReadonlySet<Step>, steps: readonly Step[]): string {
  const [step] = [...waiting].sort((one, other) => endOf(one) - endOf(other)) as [Step]
  const who = `Step ${steps.indexOf(step) + 1} of ${steps.length} (${step.does}, from ${step.begunAt} to ${endOf(step)} ms)`
  if (step.replaced === true) return `${who} returned true, although the expected value was not there`
  if (step.replaced === false) return `${who} returned false, although the expected value was there throughout`
  if (step.value === undefined) return `${who} found nothing, although a text was stored`
  const isWritten = steps.some(
    ({ does, value, replaced }) => does === 'replace' && replaced !== false && value === step.value,
  )
  if (!isWritten) return `${who} found a text that was never stored`
  return `${who} found a text that was not stored at that time: it had been replaced, or was stored later`
}

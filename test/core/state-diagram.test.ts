import { expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { TokenError } from '../../src/core/errors.ts'
import { type Activity, admission, type Rest, restAfter, statusIn } from '../../src/core/status.ts'

/** `now` has two values: 0 during a rest, 1 after it. */
interface State {
  readonly activity: Activity
  readonly token: 'none' | 'fresh' | 'due' | 'expired' | 'ended'
  readonly now: number
}

const renewal = { lastError: undefined }
const rest = (code: 'ERR_THROTTLED' | 'ERR_LOGIN_REQUIRED' | 'ERR_SUSPICIOUS_REFRESH_TOKEN', ms: number): Rest =>
  restAfter(new TokenError(code, code), { kind: 'cool-down', code, ms, failures: 1, isFirm: ms === Infinity }, 0)
const PAUSE = rest('ERR_THROTTLED', 1)
/** A caller may ask the record again at 1. */
const LOGIN = { ...rest('ERR_LOGIN_REQUIRED', Infinity), asksAt: 1 }
const STOP = rest('ERR_SUSPICIOUS_REFRESH_TOKEN', Infinity)
const IDLE: Activity = { renewal: undefined, rest: undefined, isClosed: false }
const OLDER = { none: 'none', fresh: 'due', due: 'expired', expired: 'ended', ended: 'ended' } as const

function shown({ activity, token, now }: State): string {
  const held =
    token === 'none'
      ? undefined
      : ({
          remainingMs: token === 'ended' ? 0 : 1,
          refreshRemainingMs: undefined,
          freshness: token === 'ended' ? 'expired' : token,
        } as const)
  return statusIn(activity, held, now, 0).phase.replace('-', '_')
}

interface Step {
  readonly to: State
  /** Whether a call of the user causes the step: `adopt()`, `reset()`, `close()`. */
  readonly isTold: boolean
}

/** @returns All that may happen next, to the manager or to its token. */
function next(state: State): Step[] {
  const { activity, token, now } = state
  const closed: State = { activity: { ...IDLE, isClosed: true }, token: 'none', now }
  const told = (to: State): Step => ({ to, isTold: true })
  if (activity.isClosed) return [told(closed)]
  const acts = [
    closed,
    { activity: IDLE, token: 'none', now } as const,
    { activity: IDLE, token: 'fresh', now } as const,
  ]
  const older: State[] = [
    { ...state, token: OLDER[token] },
    { ...state, now: 1 },
  ]
  const isStart = admission(activity, now, now, true) === 'start'
  const started = isStart ? [{ ...state, activity: { ...activity, renewal } }] : []
  const untold = [...older, ...started, ...(activity.renewal ? outcomes(state) : [])]
  return [...acts.map(told), ...untold.map((to) => ({ to, isTold: false }))]
}

/** What a renewal may come to, or a pause in it. */
function outcomes({ activity, token, now }: State): State[] {
  const gaveUp = (why: Rest, held = token): State => ({ activity: { ...IDLE, rest: why }, token: held, now: 0 })
  const renewed: State = { activity: IDLE, token: 'fresh', now }
  // A manager that waits for a login asks only the store.
  if (activity.rest === LOGIN) return [renewed, gaveUp(LOGIN)]
  const paused: State = { activity: { ...activity, rest: PAUSE }, token, now: 0 }
  return [renewed, paused, gaveUp(PAUSE), gaveUp(LOGIN), gaveUp(STOP, 'none')]
}

function change(from: string, to: string, isTold: boolean): string {
  return `${from} --> ${to}${isTold ? ', told' : ''}`
}

function transitions(): Set<string> {
  const seen = new Map<string, State>()
  const found = new Set<string>()
  const queue: State[] = [{ activity: IDLE, token: 'none', now: 0 }]
  for (let state = queue.pop(); state; state = queue.pop()) {
    for (const { to: one, isTold } of next(state)) {
      if (shown(state) !== shown(one)) found.add(change(shown(state), shown(one), isTold))
      const key = JSON.stringify(one, (_, value: unknown) => (value === Infinity ? 'ever' : value))
      if (seen.has(key)) continue
      seen.set(key, one)
      queue.push(one)
    }
  }
  return found
}

it('given the diagram of phases, when all that may happen is played, then the diagram shows each change among five phases and no other', () => {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(readFileSync('docs/renewal.md', 'utf8')) ?? []
  const drawn = Array.from(diagram.matchAll(/^ +(\w+) --> (\w+): .*$/gm), ([, from = '', to = '']) =>
    change(from, to, false),
  )
  const five = ['empty', 'fresh', 'due', 'expired', 'cooling_down']
  const others = five.flatMap((phase) => [
    change(phase, 'stopped', false),
    ...[...five, 'stopped']
      .filter((one) => one !== phase)
      .flatMap((one) => (TOLD.includes(phase) ? [change(one, phase, true)] : [])),
    change(phase, 'closed', true),
  ])
  const rest = [...others, change('stopped', 'fresh', false), change('stopped', 'closed', true)]
  expect([...drawn, ...rest].sort()).toEqual([...transitions()].sort())
})

/** Where `adopt()` and `reset()` lead, from every phase. */
const TOLD = ['fresh', 'empty']

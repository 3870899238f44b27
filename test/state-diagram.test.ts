import { expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { TokenError } from '../src/core/errors.ts'
import { admission, IDLE, type Phase, phaseAfter, type PhaseEvent, type Rest, statusIn } from '../src/core/phase.ts'
import type { Renewal } from '../src/core/renewal.ts'

/** `now` has two values: 0 during a rest, 1 after it. */
interface State {
  readonly phase: Phase
  readonly token: 'none' | 'fresh' | 'due' | 'expired' | 'ended'
  readonly now: number
}

const renewal = Object.create(null) as Renewal
const rest = (code: 'ERR_THROTTLED' | 'ERR_LOGIN_REQUIRED' | 'ERR_SUSPICIOUS_REFRESH_TOKEN', until = 1): Rest => ({
  until,
  error: new TokenError(code, code),
  failures: 1,
  isFirm: code === 'ERR_SUSPICIOUS_REFRESH_TOKEN',
})
const [PAUSE, LOGIN, STOP] = [
  rest('ERR_THROTTLED'),
  rest('ERR_LOGIN_REQUIRED'),
  rest('ERR_SUSPICIOUS_REFRESH_TOKEN', Infinity),
]
const OLDER = { none: 'none', fresh: 'due', due: 'expired', expired: 'ended', ended: 'ended' } as const

function shown({ phase, token, now }: State): string {
  const held =
    token === 'none'
      ? undefined
      : ({
          remainingMs: token === 'ended' ? 0 : 1,
          refreshRemainingMs: undefined,
          freshness: token === 'ended' ? 'expired' : token,
        } as const)
  return statusIn(phase, held, now, 0).phase.replace('-', '_')
}

const isTold = ({ type }: PhaseEvent) => type === 'closed' || type === 'reset'

interface Step {
  readonly to: State
  /** Whether a call of the user causes the step: `adopt()`, `reset()`, `close()`. */
  readonly isTold: boolean
}

/** @returns All that may happen next, to the phase or to the token. */
function next({ phase, token, now }: State): Step[] {
  const after = (event: PhaseEvent, changes: Partial<State> = {}): Step => ({
    to: { token, now, ...changes, phase: phaseAfter(phase, event) },
    isTold: isTold(event),
  })
  const ended = [after({ type: 'closed' }, { token: 'none' })]
  if (phase.is === 'closed') return ended
  const told = [after({ type: 'reset' }, { token: 'none' }), after({ type: 'reset' }, { token: 'fresh' })]
  const older: Step[] = [
    { token: OLDER[token], now },
    { token, now: 1 },
  ].map((time) => ({
    to: { phase, ...time },
    isTold: false,
  }))
  const started = admission(phase, now, now, true) === 'start' ? [after({ type: 'started', renewal })] : []
  return [...ended, ...told, ...older, ...started, ...(phase.is === 'renewing' ? outcomes(phase, after) : [])]
}

function outcomes(
  phase: Extract<Phase, { is: 'renewing' }>,
  after: (event: PhaseEvent, changes?: Partial<State>) => Step,
): Step[] {
  const gaveUp = (why: Rest, changes: Partial<State> = {}) =>
    after({ type: 'gave-up', renewal, rest: why }, { now: 0, ...changes })
  const renewed = after({ type: 'held' }, { token: 'fresh' })
  // A manager that waits for a login asks only the store.
  if (phase.rest === LOGIN) return [renewed, gaveUp(LOGIN)]
  const held = after({ type: 'paused', renewal, until: PAUSE.until, error: PAUSE.error }, { now: 0 })
  return [renewed, held, gaveUp(PAUSE), gaveUp(LOGIN), gaveUp(STOP, { token: 'none' })]
}

function change(from: string, to: string, isTold: boolean): string {
  return `${from} --> ${to}${isTold ? ', told' : ''}`
}

function transitions(): Set<string> {
  const seen = new Map<string, State>()
  const found = new Set<string>()
  const queue: State[] = [{ phase: IDLE, token: 'none', now: 0 }]
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

it('given the diagram of phases, when all that may happen is played, then the diagram shows each change and no other', () => {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(readFileSync('docs/renewal.md', 'utf8')) ?? []
  const drawn = Array.from(diagram.matchAll(/^ +(\w+) --> (\w+): (.*)$/gm), ([, from = '', to = '', why = '']) => ({
    from,
    to,
    isTold: /^(adopt|reset|close)\(\)$/.test(why),
  }))
  const all = [...new Set(drawn.flatMap(({ from, to }) => [from, to]))].filter((phase) => phase !== 'any')
  const edges = drawn.flatMap(({ from, to, isTold }) =>
    (from === 'any' ? all.filter((phase) => phase !== 'closed') : [from])
      .filter((one) => one !== to)
      .map((one) => change(one, to, isTold)),
  )
  expect([...new Set(edges)].sort()).toEqual([...transitions()].sort())
})

import { describe, expect, it } from '@jest/globals'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { randomFrom } from '../support/random.ts'
import { settle } from '../support/watched-clock.ts'
import { person } from '../../src/login/index.ts'

type Members = Record<string, unknown>

/** What a later release adds to a record, and to the token set that it writes. */
const LATER = { region: 'north', told: { times: 3 } }

/** Changes the state in a readable record. */
function changed(text: string, change: (state: Members) => Members): string {
  const envelope = JSON.parse(text) as { box: string }
  return JSON.stringify({ ...envelope, box: JSON.stringify(change(JSON.parse(envelope.box) as Members)) })
}

const withLater = (state: Members): Members => ({
  ...state,
  ...LATER,
  ...(state.tokens !== undefined && { tokens: { ...(state.tokens as Members), ...LATER } }),
})

/** The register as a later release uses it: its records have more members. `lost`: texts that it reads, and whose record lacks them. */
function ofLaterRelease(register: TokenRegister): TokenRegister & { lost: number } {
  const written = new Map<string, string>()
  const later = {
    kind: register.kind,
    lost: 0,
    async read(key: string) {
      const reading = await register.read(key)
      const { value } = reading
      if (value !== undefined && !isWhole(value)) later.lost += 1
      return reading
    },
    replace(...[key, expected, value, ...more]: Parameters<TokenRegister['replace']>) {
      const text = changed(value, withLater)
      written.set(value, text)
      return register.replace(
        key,
        expected === undefined ? undefined : (written.get(expected) ?? expected),
        text,
        ...more,
      )
    },
  }
  return later
}

const stateOf = (text: string) => JSON.parse((JSON.parse(text) as { box: string }).box) as Members
const isWhole = (text: string) => 'region' in stateOf(text)

class LoginSource extends ScriptedSource {
  readonly login = person
}

/** Owners of this release and of a later one share an account for twenty lifetimes. */
async function fleet(earlier: number, later: number, source: ScriptedSource) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const random = randomFrom(11)
  const [ours, theirs] = [register, ofLaterRelease(register)]
  const owners = [...Array<TokenRegister>(later).fill(theirs), ...Array<TokenRegister>(earlier).fill(ours)].map((one) =>
    manage(source, { store: sharedStore(one, { onUnavailable: 'fail' }), random }, clock),
  )
  const grant = { accessToken: 'first', accessLifetimeMs: 60_000, refreshToken: 'first-refresh' }
  await owners[0]!.tokens.adopt(grant)
  source.calls.length = 0
  let refused = 0
  for (let at = 0; at < 20 * 60_000; at += 5_000) {
    const asked = owners.map(({ tokens }) => outcome(tokens.getAccessToken()))
    for (let turn = 0; turn < 4; turn += 1) {
      await settle()
      await clock.advance(1_250)
    }
    for (const answer of await Promise.all(asked)) if (typeof answer !== 'string') refused += 1
  }
  const told = owners.flatMap(({ observed: heard }) => [
    ...heard.suspicious,
    ...heard.loginChanged.filter(({ login }) => login === 'required'),
    ...heard.anomaly.filter(({ kind }) => kind === 'stored-tokens-unusable'),
  ])
  for (const { tokens } of owners) void outcome(tokens.close())
  const [record] = [...register.values.values()]
  return { calls: source.calls.length, refused, told, lost: theirs.lost, kinds: source.kinds, record: record!.value }
}

describe('given a rolling upgrade: three owners of a release, and three of a later one that adds members to the record', () => {
  it.each<[string, () => ScriptedSource]>([
    ['of a service account', () => new ScriptedSource({ pairs: true })],
    ['of a login', () => new LoginSource({ pairs: true })],
  ])(
    'when they share the record %s, then they make as many token requests as one fleet, and nothing is lost (F297)',
    async (_, create) => {
      const alone = await fleet(6, 0, create())
      const mixed = await fleet(3, 3, create())
      expect(alone.calls).toBeGreaterThan(15)
      expect([mixed.refused, mixed.told, mixed.lost]).toEqual([0, [], 0])
      expect(mixed.kinds).not.toContain('obtain')
      expect(Math.abs(mixed.calls - alone.calls)).toBeLessThanOrEqual(1)
      expect(isWhole(mixed.record)).toBe(true)
    },
  )
})

import { describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Found } from './search.ts'
import { SMALL_SCOPES } from './scopes.ts'

/** Runs the explorer as a process, because it replaces UUIDs and hashing. */
async function explored(...args: string[]): Promise<Found[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/explore.mjs', '--json', ...args])
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Found)
}

describe('given owners that share a record in a register (docs/protocol.md)', () => {
  const exploring = explored('--small')
  exploring.catch(() => undefined)

  it.each(SMALL_SCOPES.map(({ name }) => name))(
    'when there is %s, then no order of events breaks a rule',
    async (name) => {
      const found = (await exploring).find(({ scope }) => scope === name)
      expect(found).toMatchObject({ isCut: false })
      expect(found).not.toHaveProperty('violation')
      expect(found!.ends).toBeGreaterThan(3)
    },
  )
})

const FALSE_ALARM = /^I7: [AB] reports theft where there is none/

describe('given an owner without the store that cannot tell it (docs/protocol.md, known limits)', () => {
  it('when another owner then refreshes, then it reports theft where there is none', async () => {
    const [found] = await explored('--scope', 'an owner without the store, its limit')
    expect(found!.violation?.what).toMatch(FALSE_ALARM)
  })
})

describe('given the protocol without one of its rules', () => {
  it.each([
    ['doubt', 'a crash', /^I1: B presents a refresh token again that A presented/],
    ['fence', 'a freeze and a refusal', /^I6: A settles a claim of B/],
    ['version', 'an older record, no epoch', /^I4: A has seen 2, and adopts 1/],
    ['R1', 'an older record', /^I1: B presents a refresh token again that A presented/],
    ['R2', 'a clock step', /^R2: B believes a token for \d+ ms, whose lifetime is 60000 ms/],
    ['R3', 'a freeze', /^I3: the pair of B \(.*\) gave way to one that was claimed earlier/],
    ['R4, an open claim', 'obtain ends, a crash', FALSE_ALARM],
    ['R4, a cleared claim', 'obtain ends, a login', FALSE_ALARM],
    ['R4, the next pair', 'obtain ends, a crash', FALSE_ALARM],
    ['R4, beside a claim', 'obtain ends, a flush and an answer lost', FALSE_ALARM],
    ['R4, after it', 'obtain ends, a flush', FALSE_ALARM],
    ['R4, a late end', 'obtain ends, a flush', FALSE_ALARM],
    ['R4, a late end beside a claim', 'obtain ends, a login', FALSE_ALARM],
    ['R4, a told exchange and the next pair', 'an owner without the store, when due', FALSE_ALARM],
    ['R4, a mark at a clear', 'a reset after an owner has told of its obtain', FALSE_ALARM],
    ['R4, the answer', 'an owner without the store, when due', FALSE_ALARM],
    ['overlap', 'an owner without the store', FALSE_ALARM],
    ['overlap by a claim', 'an owner without the store', FALSE_ALARM],
    ['R5', 'a reset, a command twice and a flush within a millisecond', /^I16: a command of A took effect twice/],
    ['adopt', 'two logins', /^version: a new pair does not raise it/],
    ['adopt after a loss', 'two logins and a flush', /^login: A drops the tokens of a login/],
    ['logout', 'a login and a logout', /^login: A brings back a session that was forgotten/],
    ['grace', 'a grace and a crash', /^I1: B presents a refresh token again that A presented/],
  ])('when that is %s, then the explorer finds what goes wrong (%s)', async (rule, scope, violation) => {
    const [found] = await explored('--scope', scope, '--without', rule)
    expect(found!.violation?.what).toMatch(violation)
  })
})

import { describe, expect, it } from '@jest/globals'
import { part } from '../support/part.ts'
import { explored } from './explored.ts'

const FALSE_ALARM = /^I7: [AB] reports theft where there is none/

describe('given an owner without the store that cannot notify it (docs/evidence/protocol.md, known limits)', () => {
  it('when another owner then refreshes, then it reports theft where there is none', async () => {
    const [found] = await explored('--scope', 'an owner without the store, its limit')
    expect(found!.violation?.what).toMatch(FALSE_ALARM)
  })
})

describe('given a register that does not report its epoch (docs/evidence/protocol.md, known limits)', () => {
  it('when an older record is restored, then an owner that starts presents a used refresh token', async () => {
    const [found] = await explored('--scope', '2 owners without an epoch, its limit')
    expect(found!.violation?.what).toMatch(/^I1: B presents a refresh token again that A presented/)
  })
})

/** Each takes as long as ten of the others. */
const LONG: [string, string, RegExp][] = [
  [
    'R1, a token set that is stored again',
    'a token set that is stored again after a restore',
    /^I1: [AB] presents a refresh token again that [AB] presented/,
  ],
  ['R4, beside a lease', 'obtain ends, a flush and an answer lost', FALSE_ALARM],
  ['R4, the answer', 'an owner without the store, when due', FALSE_ALARM],
  ['R9', 'a replace that is executed after its epoch', /^I1: A presents a refresh token again that B presented/],
]

describe('given the protocol without one of its rules', () => {
  it.each([
    ...part(LONG, []),
    ['doubt', 'a crash', /^I1: B presents a refresh token again that A presented/],
    ['fence', 'a freeze and a refusal', /^I6: A completes a lease of B/],
    ['version', 'an older record after a loss, and a clock set back', /^progress: a run does not end/],
    ['version and R11', 'an older record, no epoch', /^I4: A has seen 2, and adopts 1/],
    [
      'R11',
      'a login whose last renewal is lost',
      /^R11: the login of [AB] ends \(lost\), and the service has rejected nothing/,
    ],
    [
      'R11, the wait',
      'a login whose last renewal is lost',
      /^R11: B presents again what A presented \(accepted\), 0 ms after the loss was seen/,
    ],
    ['R1', 'an older record', /^I1: B presents a refresh token again that A presented/],
    [
      'R1, a login that is stored again',
      'a login that is stored again after a restore',
      /^I1: A presents a refresh token again that B presented \(accepted\)/,
    ],
    ['R2', 'a clock step', /^R2: B believes a token for \d+ ms, whose lifetime is 60000 ms/],
    ['R3', 'a freeze', /^I3: the token set of B \(.*\) gave way to one whose lease is older/],
    ['R4, an open lease', 'obtain ends, a crash', FALSE_ALARM],
    ['R4, a cleared lease', 'obtain ends, a login', FALSE_ALARM],
    ['R4, the next token set', 'obtain ends, a crash', FALSE_ALARM],
    ['R4, after it', 'obtain ends, a flush', FALSE_ALARM],
    ['R4, a late end', 'obtain ends, a flush', FALSE_ALARM],
    ['R4, a late end beside a lease', 'obtain ends, a login', FALSE_ALARM],
    ['R4, a reported exchange and the next token set', 'an owner without the store, when due', FALSE_ALARM],
    ['R4, a mark at a clear', 'a reset after an owner has told of its obtain', FALSE_ALARM],
    ['overlap', 'an owner without the store', FALSE_ALARM],
    ['overlap by a lease', 'an owner without the store', FALSE_ALARM],
    ['R5', 'a reset, a command twice and a flush within a millisecond', /^I16: a command of A took effect twice/],
    ['adopt', 'two logins', /^version: a new token set does not raise it/],
    ['logout', 'a login and a logout', /^login: A brings back a session that was forgotten/],
    ['R8', 'a login, an owner killed', /^R8: the login of B ends \(refused\), and the service has refused nothing/],
    ['R8, the wait', 'a login, an owner killed', /^R8: [AB] presents again .* although its access token serves/],
    ['R10', 'requests of two logins', /^R10: a (caller|request) of [AB] /],
    ['an act and a look', 'a look and a login', /^kept login: A hears present, elsewhere/],
    [
      'an act and a look that finds none',
      'a look and a login after a logout',
      /^kept login: A hears required, elsewhere/,
    ],
    [
      'the order of acts',
      'a login of a person and a logout in one turn',
      /^order: A stores the login \w+ after what it did later/,
    ],
    ['acts and a renewal', 'a logout, a login and a caller in one turn', /^kept login: A hears required, elsewhere/],
    [
      'a logout of one login',
      'a reset where somebody else has logged in',
      /^own login: A erases B1, and has never had that login/,
    ],
    [
      'a lease to log out',
      'a logout where somebody else has logged in',
      /^own login: A has logged out \(revoked: true\), and the pair of/,
    ],
    [
      'a renewal of one login',
      'a renewal and a login elsewhere',
      /^own renewal: A has the login A1, and presents refresh-B1 of B1/,
    ],
    ['a renewal of now', 'a renewal, a reset and a login', /^(I4: A has seen|progress: a run does not end)/],
    [
      'a login of a lower version',
      'a login after a loss, and a clock set back',
      /^login: A drops the tokens of a login/,
    ],
    ['a login by its name', 'a login that meets a lost step', /^kept login: A hears present, elsewhere/],
    ['the time to keep', 'a login, an owner killed', /^kept login: [AB] has lost its login/],
    [
      'a clock that jumps',
      'a login and a machine that sleeps',
      /^R8: B presents again what A presented \(accepted\), whose claim stands/,
    ],
    [
      'resources, the lease',
      'two resources of two owners',
      /^R8: [AB] presents again what [AB] presented \(\w+\), whose claim stands/,
    ],
    ['resources, the rotation', 'two resources of two owners', /^kept login: a caller of [AB] is told that a login is/],
    ['resources, the token', 'two resources of two owners', /^I3: [AB] has a token set that is stored nowhere/],
    ['resources, a token for each', 'two resources of two owners', /^F418: a caller of [AB] asked for/],
    ['F399', 'two logins and an answer that takes its time', /^kept login: A hears present, elsewhere/],
    ['grace', 'a grace and a crash', /^I1: B presents a refresh token again that A presented/],
  ])('when that is %s, then the explorer finds the violation (%s)', async (rule, scope, violation) => {
    const [found] = await explored('--scope', scope, '--without', rule)
    expect(found!.violation?.what).toMatch(violation)
  })
})

import type { Wish } from './owner.ts'
import type { Fault, Scope } from './scope.ts'

type Faults = Partial<Readonly<Record<Fault, number>>>

const GET: readonly Wish[] = ['get']
const GET_RENEW: readonly Wish[] = ['get', 'renew']
const GET_DUE: readonly Wish[] = ['get', 'due']

const NO_RESET: Faults = {
  ...{ lost: 1, late: 1, twice: 1, crash: 1, freeze: 1, throttled: 1, failed: 1 },
  ...{ flush: 1, restore: 1, step: 1 },
}
const LOGIN = { grant: 'login' } as const
/** Two owners of a login, whose access token expires. */
const TWO_ENDED: Pick<Scope, 'owners' | 'grant'> = {
  owners: [
    ['login', 'due', 'ended'],
    ['later', 'due', 'ended'],
  ],
  ...LOGIN,
}
/** Logins without faults. */
const CALM = { faults: {}, most: 0, ...LOGIN } as const
const REQUEST: readonly Wish[] = ['login', 'request']
/** An obtain ends earlier sessions at the service, and no owner makes exchanges without the store. */
const ENDS = { obtainEnds: true, onUnavailable: 'fail' } as const

/** Two owners of a login ask for resources at the same time. */
const TWO_RESOURCES = {
  owners: [['login'], ['get']],
  acts: [['orders+stock'], ['stock+orders']],
  // The second owner adopts the login, and both ask.
  begins: ['go A1', 'go A2', 'go B1', 'act A', 'act B'],
  ...LOGIN,
} as const
const ONE_OF_TWO = { ...TWO_RESOURCES, acts: [['orders'], ['stock']] } as const

/** Logins end only because the service rejects them (R8), and requests of one never get tokens of another (R10). */
const LOGINS: readonly Scope[] = [
  { name: 'a login, an owner killed', ...TWO_ENDED, faults: { crash: 1 }, most: 1 },
  { name: 'a login and an answer lost', ...TWO_ENDED, faults: { lost: 1 }, most: 1 },
  { name: 'a login and a 5xx', ...TWO_ENDED, faults: { failed: 1, throttled: 1 }, most: 1 },
  {
    name: 'a login and four 5xx',
    owners: [['login', 'ended', 'ended', 'renew']],
    faults: { failed: 4 },
    most: 4,
    ...LOGIN,
  },
  {
    name: 'a login and words that nobody knows',
    owners: [['login', 'ended', 'ended']],
    faults: { odd: 2 },
    most: 2,
    ...LOGIN,
  },
  { name: 'two resources of two owners', ...TWO_RESOURCES, faults: {}, most: 0 },
  { name: 'two resources, an owner killed', ...ONE_OF_TWO, faults: { crash: 1 }, most: 1 },
  { name: 'two resources and an answer lost', ...ONE_OF_TWO, faults: { lost: 1 }, most: 1 },
  { name: 'a login and another epoch', ...TWO_ENDED, faults: { restart: 1 }, most: 1 },
  {
    name: 'a login whose last renewal is lost',
    owners: [
      ['login', 'renew', 'due', 'ended'],
      ['later', 'due', 'ended'],
    ],
    faults: { restore: 1 },
    most: 1,
    ...LOGIN,
  },
  { name: 'a login and an older record', ...TWO_ENDED, faults: { restore: 1 }, most: 1 },
  {
    name: 'a login and a machine that sleeps',
    owners: [['login'], ['later']],
    acts: [['renew'], ['renew']],
    // The refresh of A is in flight.
    begins: ['go A1', 'go A2', 'time', 'go B1', 'act A', 'go A3', 'go A4'],
    faults: { jump: 1 },
    most: 1,
    ...LOGIN,
  },
  { name: 'a login and a flush', ...TWO_ENDED, faults: { flush: 1 }, most: 1 },
  { name: 'a login that the register drops in time', owners: [['login', 'days']], faults: {}, most: 0, ...LOGIN },
  { name: 'requests of two logins', owners: [REQUEST, REQUEST], faults: {}, most: 0, ...LOGIN },
  { name: 'a request and a logout', owners: [REQUEST, ['get', 'reset', 'login']], faults: {}, most: 0, ...LOGIN },
]

/** Acts mean what they meant at their call (`act-rules.ts`), whatever was requested of the record before and responds late. */
const ACTS: readonly Scope[] = [
  { name: 'a look and a login', owners: [[], ['login']], acts: [['look', 'login'], []], ...CALM },
  {
    name: 'a look and a login after a logout',
    owners: [[], ['login', 'reset']],
    acts: [['look', 'login'], []],
    ...CALM,
  },
  {
    name: 'a look and a logout',
    owners: [['get'], ['login', 'renew']],
    acts: [['look', 'logout'], []],
    // The second owner logs in, and the first one adopts that.
    begins: ['go B1', 'go B2', 'go A1'],
    ...CALM,
  },
  {
    name: 'a logout, a login and a caller in one turn',
    owners: [['login']],
    acts: [['logout+login ann+renew']],
    ...CALM,
  },
  {
    name: 'a renewal, a reset and a login',
    owners: [['login']],
    acts: [['renew', 'reset+login bob']],
    begins: ['go A1', 'go A2'],
    ...CALM,
  },
  {
    name: 'a login of a person and a logout in one turn',
    owners: [[]],
    acts: [['login ann+logout', 'login+reset']],
    ...CALM,
  },
  {
    name: 'two logins and an answer that takes its time',
    owners: [[]],
    acts: [['login ann', 'login bob']],
    // The second call came while the first login was being stored.
    begins: ['act A', 'go A1', 'go A2', 'act A', 'go A3'],
    faults: { late: 1 },
    most: 1,
    waits: 1,
    ...LOGIN,
  },
  { name: 'two logins in one turn', owners: [[]], acts: [['login ann+login', 'logout+login bob']], ...CALM },
  {
    name: 'logouts and a login during a renewal',
    owners: [['login', 'renew']],
    acts: [['logout', 'login', 'logout']],
    // The refresh is in transit.
    begins: ['go A1', 'go A2', 'go A3', 'go A4'],
    ...CALM,
  },
  {
    name: 'a logout where somebody else has logged in',
    owners: [['login'], []],
    acts: [['logout'], ['login']],
    ...CALM,
  },
  { name: 'a reset where somebody else has logged in', owners: [['login'], []], acts: [['reset'], ['login']], ...CALM },
  { name: 'a renewal and a login elsewhere', owners: [['login', 'renew'], []], acts: [[], ['login']], ...CALM },
  { name: 'a login that meets a late step', owners: [['login', 'ended']], faults: { late: 1 }, most: 1, ...LOGIN },
  { name: 'a login that meets a lost step', owners: [['login', 'ended']], faults: { lost: 1 }, most: 1, ...LOGIN },
  {
    name: 'a refresh, a loss, a clock set back and a login',
    owners: [['login', 'renew'], []],
    acts: [[], ['login']],
    // The refresh is in transit.
    begins: ['go A1', 'go A2', 'go A3', 'go A4'],
    faults: { flush: 1, step: 1 },
    most: 2,
    ...LOGIN,
  },
  {
    name: 'a login after a loss, and a clock set back',
    owners: [
      ['login', 'due'],
      ['later', 'login'],
    ],
    faults: { flush: 1, step: 1 },
    most: 2,
    ...LOGIN,
  },
]

/** For `npm test`: they take seconds. */
export const SMALL_SCOPES: readonly Scope[] = [
  { name: 'no fault', owners: [GET_RENEW, GET_RENEW], faults: {}, most: 0 },
  { name: 'no fault, when due', owners: [GET_DUE, GET_DUE], faults: {}, most: 0 },
  { name: 'a message lost', owners: [GET, GET], faults: { lost: 1 }, most: 1 },
  { name: 'a message late', owners: [GET, GET], faults: { late: 1 }, most: 1 },
  { name: 'a command twice', owners: [GET, GET], faults: { twice: 1 }, most: 1 },
  { name: 'a refusal', owners: [GET, GET], faults: { throttled: 1, failed: 1 }, most: 1 },
  { name: 'a crash', owners: [GET_RENEW, GET], faults: { crash: 1 }, most: 1 },
  { name: 'a freeze', owners: [GET, GET], faults: { freeze: 1 }, most: 1 },
  { name: 'a flush', owners: [GET, GET], faults: { flush: 1 }, most: 1 },
  { name: 'an older record', owners: [GET_RENEW, GET], faults: { restore: 1 }, most: 1 },
  {
    name: 'an older record, no epoch',
    owners: [['get', 'renew', 'renew']],
    faults: { restore: 1 },
    most: 1,
    epochs: false,
  },
  {
    name: 'an older record after a loss, and a clock set back',
    owners: [['get', 'renew', 'renew']],
    faults: { flush: 1, step: 1, restore: 1 },
    most: 3,
    epochs: false,
  },
  { name: 'another epoch', owners: [GET, GET], faults: { restart: 1 }, most: 1 },
  { name: 'a clock step', owners: [GET, GET], faults: { step: 1 }, most: 1 },
  {
    name: 'an owner without the store',
    owners: [
      ['later', 'renew'],
      ['get', 'due'],
    ],
    faults: { outage: 1 },
    most: 1,
    obtainEnds: true,
  },
  {
    name: 'a reset after an owner has told of its obtain',
    owners: [GET, ['reset', 'get', 'renew']],
    faults: { outage: 1 },
    most: 1,
    obtainEnds: true,
    // The first owner cannot reach the store. When it can again, it notifies the record of its obtain, which is in transit.
    begins: ['outage A', 'go A2', 'go A4'],
  },
  {
    name: 'a login and a crash',
    owners: [
      ['login', 'renew'],
      ['get', 'later'],
    ],
    faults: { crash: 1 },
    most: 1,
    grant: 'login',
  },
  {
    name: 'a login and a logout',
    owners: [
      ['login', 'due'],
      ['due', 'reset'],
    ],
    faults: {},
    most: 0,
    grant: 'login',
  },
  {
    name: 'two logins',
    owners: [
      ['login', 'renew'],
      ['get', 'login'],
    ],
    faults: {},
    most: 0,
    grant: 'login',
  },
  { name: 'a login and a message late', owners: [['login', 'due']], faults: { late: 1 }, most: 1, grant: 'login' },
  {
    name: 'two logins and a flush',
    owners: [
      ['login', 'renew', 'due'],
      ['later', 'login'],
    ],
    faults: { flush: 1 },
    most: 1,
    grant: 'login',
  },
  ...LOGINS,
  ...ACTS,
  { name: 'a grace and an answer lost', owners: [GET_RENEW], faults: { lost: 1 }, most: 1, graceMs: 1_000 },
  { name: 'a grace and a crash', owners: [GET_RENEW, GET], faults: { crash: 1 }, most: 1, graceMs: 1_000 },
  {
    name: 'a login that is stored again after a restore',
    owners: [
      ['login', 'renew'],
      ['get', 'renew', 'renew'],
    ],
    faults: { lost: 1, restore: 1 },
    most: 2,
    // The second owner obtains. Then the register stores the login, and its owner does not know. The second owner presents its refresh token, and the record
    // from before the login is restored.
    begins: [
      ...['go B1', 'go B2', 'go B3', 'go B4', 'go A1', 'lost-after A2'],
      ...['go B5', 'go B6', 'go B7', 'go B8', 'restore A3 1'],
    ],
  },
  { name: 'obtain ends, a flush', owners: [GET, GET], faults: { flush: 1 }, most: 1, ...ENDS },
  { name: 'obtain ends, a login', owners: [GET, ['login', 'renew']], faults: {}, most: 0, ...ENDS },
  { name: 'obtain ends, a crash', owners: [GET, GET], faults: { crash: 1 }, most: 1, ...ENDS },
]

const WITHOUT_STORE: Scope = {
  name: 'an owner without the store, when due',
  owners: [
    ['due', 'get'],
    ['get', 'due', 'renew'],
  ],
  faults: { outage: 1 },
  most: 1,
  obtainEnds: true,
}

/** The register stores nothing in another epoch than the one that was read (R9). */
const OTHER_EPOCH: Scope = {
  name: 'a replace that is executed after its epoch',
  owners: [GET_RENEW, ['get', 'renew', 'renew']],
  faults: { restore: 1 },
  most: 1,
  replacesSurvive: true,
}

/** For rules whose removal shows only if two faults come together, or only in a longer search. */
export const PAIRED_SCOPES: readonly Scope[] = [
  WITHOUT_STORE,
  OTHER_EPOCH,
  {
    name: 'obtain ends, a flush and an answer lost',
    owners: [GET, GET],
    faults: { flush: 1, lost: 1 },
    most: 2,
    ...ENDS,
  },
  {
    name: 'a token set that is stored again after a restore',
    owners: [GET_RENEW, GET_RENEW],
    faults: { lost: 1, restore: 1 },
    most: 2,
    onUnavailable: 'fail',
  },
  { name: 'a freeze and a refusal', owners: [GET, GET], faults: { freeze: 1, throttled: 1 }, most: 2 },
  { name: 'four failures in a row', owners: [['get', 'due', 'renew']], faults: { failed: 4 }, most: 4 },
  {
    name: 'a reset, a command twice and a flush within a millisecond',
    owners: [GET],
    faults: { reset: 1, twice: 1, flush: 1 },
    most: 3,
    sameInstant: true,
  },
]

/** An owner that starts presents a used refresh token: the known limit of a register without an epoch. Not part of the exploration. */
export const NO_EPOCH: Scope = {
  name: '2 owners without an epoch, its limit',
  owners: [GET_RENEW, GET],
  faults: { restore: 1 },
  most: 1,
  epochs: false,
}

/** A false alarm about theft: the known limit of owners without the store. Not part of the exploration. */
export const LIMIT: Scope = {
  name: 'an owner without the store, its limit',
  owners: [['later'], ['get', 'due']],
  faults: { outage: 1 },
  most: 1,
  obtainEnds: true,
  hasLimits: false,
}

const MESSAGES: Faults = { lost: 1, late: 1, twice: 1 }
const OWNERS: Faults = { crash: 1, freeze: 1 }
const REGISTER: Faults = { flush: 1, restore: 1, step: 1 }

/** For `npm run explore`: they take minutes. */
export const LARGE_SCOPES: readonly Scope[] = [
  ...PAIRED_SCOPES,
  { name: '2 owners x 2 renewals, no fault', owners: [GET_RENEW, GET_RENEW], faults: {}, most: 0, slow: 3 },
  { name: '2 x 2 resources, a crash or an answer lost', ...TWO_RESOURCES, faults: { crash: 1, lost: 1 }, most: 1 },
  { name: '2 x 2, any 1 fault', owners: [GET_RENEW, GET_RENEW], faults: NO_RESET, most: 1 },
  { name: '2 x 2 when due, any 1 fault', owners: [GET_DUE, GET_DUE], faults: NO_RESET, most: 1 },
  { name: '2 x 2 when due, 1 reset', owners: [GET_DUE, GET_DUE], faults: { reset: 1 }, most: 1 },
  { name: '2 x 2, obtain ends, any 1 fault', owners: [GET_RENEW, GET_RENEW], faults: NO_RESET, most: 1, ...ENDS },
  {
    name: '2 x 2, obtain ends, private, any 1 fault',
    owners: [GET_RENEW, GET_RENEW],
    faults: NO_RESET,
    most: 1,
    obtainEnds: true,
  },
  {
    name: '2 x 2, an owner without the store',
    owners: [GET_RENEW, GET_RENEW],
    faults: { outage: 1 },
    most: 1,
    obtainEnds: true,
  },
  {
    name: 'an owner without the store that crashes',
    owners: [
      ['later', 'renew'],
      ['get', 'due'],
    ],
    faults: { outage: 1, crash: 1 },
    most: 2,
    obtainEnds: true,
  },
  {
    name: 'a login, any 1 fault',
    owners: [
      ['login', 'due'],
      ['later', 'due'],
    ],
    faults: { ...NO_RESET, restore: 0 },
    most: 1,
    grant: 'login',
  },
  {
    name: 'a login and a logout, any 1 fault',
    owners: [
      ['login', 'due'],
      ['due', 'reset'],
    ],
    faults: { ...NO_RESET, restore: 0 },
    most: 1,
    grant: 'login',
  },
  {
    name: 'a grace, any 1 fault',
    owners: [GET_DUE, GET_DUE],
    faults: { ...NO_RESET, step: 0 },
    most: 1,
    graceMs: 1_000,
  },
  { name: '2 x 1, obtain ends, 1 reset', owners: [GET, GET], faults: { reset: 1 }, most: 1, ...ENDS },
  { name: '2 x 1, 2 faults of messages', owners: [GET, GET], faults: MESSAGES, most: 2 },
  { name: '2 x 1, 2 of owners and register', owners: [GET, GET], faults: { ...OWNERS, ...REGISTER }, most: 2 },
  { name: '2 x 1, obtain ends, 2 of owners', owners: [GET, GET], faults: OWNERS, most: 2, ...ENDS },
  { name: '2 x 2, an answer lost and a crash', owners: [GET_RENEW, GET_RENEW], faults: { lost: 1, crash: 1 }, most: 2 },
  {
    name: '2 x 2, a freeze and an older record',
    owners: [GET_RENEW, GET_RENEW],
    faults: { freeze: 1, restore: 1 },
    most: 2,
  },
  { name: '2 owners, failover and failback', owners: [GET_RENEW, GET], faults: { restore: 2 }, most: 2 },
  { name: 'a login, 2 of owners and messages', ...TWO_ENDED, faults: { crash: 1, lost: 1, failed: 1 }, most: 2 },
  {
    name: 'requests of two logins, any 1 fault',
    owners: [REQUEST, REQUEST],
    // Not a flush: the exchange of the login that has ended may store its token set again (docs/evidence/protocol.md, known limits). Not a step: a login may expire.
    faults: { ...NO_RESET, flush: 0, restore: 0, step: 0 },
    most: 1,
    ...LOGIN,
  },
  { name: '3 x 1, no fault', owners: [GET, GET, GET], faults: {}, most: 0, slow: 3 },
  { name: '3 x 1, any 1 fault of owners', owners: [GET, GET, GET], faults: OWNERS, most: 1 },
  { name: '3 x 1, any 1 fault of messages', owners: [GET, GET, GET], faults: MESSAGES, most: 1 },
  { name: '3 x 1, any 1 fault of register', owners: [GET, GET, GET], faults: REGISTER, most: 1 },
]

import type { Wish } from './owner.ts'
import type { Fault, Scope } from './world.ts'

type Faults = Partial<Readonly<Record<Fault, number>>>

const GET: readonly Wish[] = ['get']
const GET_RENEW: readonly Wish[] = ['get', 'renew']
const GET_DUE: readonly Wish[] = ['get', 'due']

const NO_RESET: Faults = {
  ...{ lost: 1, late: 1, twice: 1, crash: 1, freeze: 1, throttled: 1, failed: 1 },
  ...{ flush: 1, restore: 1, step: 1 },
}
/** At the service an obtain ends earlier sessions, and nobody goes without the store. */
const ENDS = { obtainEnds: true, onUnavailable: 'fail' } as const

/** For `npm test`: seconds. */
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
  { name: 'a clock step', owners: [GET, GET], faults: { step: 1 }, most: 1 },
  { name: 'obtain ends, a crash', owners: [GET, GET], faults: { crash: 1 }, most: 1, ...ENDS },
]

/** For rules without which two faults must come together. */
export const PAIRED_SCOPES: readonly Scope[] = [
  { name: 'a freeze and a refusal', owners: [GET, GET], faults: { freeze: 1, throttled: 1 }, most: 2 },
  {
    name: 'a reset, a command twice and a flush within a millisecond',
    owners: [GET],
    faults: { reset: 1, twice: 1, flush: 1 },
    most: 3,
    sameInstant: true,
  },
]

const MESSAGES: Faults = { lost: 1, late: 1, twice: 1 }
const OWNERS: Faults = { crash: 1, freeze: 1 }
const REGISTER: Faults = { flush: 1, restore: 1, step: 1 }

/** For `npm run explore`: minutes. */
export const LARGE_SCOPES: readonly Scope[] = [
  ...PAIRED_SCOPES,
  { name: '2 owners x 2 renewals, no fault', owners: [GET_RENEW, GET_RENEW], faults: {}, most: 0, slow: 3 },
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
  { name: '2 x 1, obtain ends, 1 reset', owners: [GET, GET], faults: { reset: 1 }, most: 1, ...ENDS },
  { name: '2 x 1, 2 faults of messages', owners: [GET, GET], faults: MESSAGES, most: 2 },
  { name: '2 x 1, 2 of owners and register', owners: [GET, GET], faults: { ...OWNERS, ...REGISTER }, most: 2 },
  { name: '2 x 1, obtain ends, 2 of owners', owners: [GET, GET], faults: OWNERS, most: 2, ...ENDS },
  { name: '3 x 1, no fault', owners: [GET, GET, GET], faults: {}, most: 0, slow: 3 },
  { name: '3 x 1, any 1 fault of owners', owners: [GET, GET, GET], faults: OWNERS, most: 1 },
  { name: '3 x 1, any 1 fault of messages', owners: [GET, GET, GET], faults: MESSAGES, most: 1 },
  { name: '3 x 1, any 1 fault of register', owners: [GET, GET, GET], faults: REGISTER, most: 1 },
]

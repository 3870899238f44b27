import { readdirSync, readFileSync } from 'node:fs'

/** The rooms whose interfaces name the members of the record, a change, a view, a lease, a report and a context. */
const ROOMS = ['core', 'record', 'store', 'login', 'resources']

const namesIn = (text: string) => Array.from(text.matchAll(/^ {2}(?:readonly )?([a-z]\w*)\??:/gm), ([, name]) => name!)
const sourcesOf = (room: string) =>
  readdirSync(`src/${room}`).map((file) => readFileSync(`src/${room}/${file}`, 'utf8'))

/**
 * Every member of these types, so a new one is in it by itself. One with the name of a method of every object is no member of ours: a program on whose
 * `Object.prototype` it has another value is broken at once.
 */
export const MEMBERS: readonly string[] = [...new Set(ROOMS.flatMap(sourcesOf).flatMap(namesIn))]
  .filter((name) => !(name in Object.prototype))
  .sort()

const at = Date.UTC(2026, 0, 1)
const TOKENS = {
  ...{ accessToken: 'AT-EVIL', accessLifetimeMs: 9e8, refreshToken: 'RT-EVIL', refreshLifetimeMs: 9e8 },
  ...{ at, accessMs: 9e8, accessRemainingMs: 9e8, refreshMs: 9e8, refreshRemainingMs: 9e8, fingerprint: 'evil' },
  ...{ context: 'EVIL', credentials: 'EVIL', fence: at, retired: false, presentations: 0, overlapped: false },
  ...{ version: 9e9, login: at, loginId: 'EVIL', subject: 'EVIL', lossAt: at, doubtAt: at, known: 'replaced' },
}

/** All that the attacker has, in one object: it is a whole record, a change, a lease, a report and a context. */
const WHOLE: Record<string, unknown> = {
  ...TOKENS,
  ...{ clearedFence: 0, overlaps: true, owners: 9e9, epoch: 'EVIL', began: 'evil', now: at, value: 'EVIL' },
  ...{ ended: ['EVIL'], spent: ['EVIL'], past: ['EVIL'], kind: 'newer', owner: 'EVIL', ms: 9e8, settled: false },
  ...{ isPrivate: true, presentable: true, fate: 'dead', drops: true, boot: 'EVIL', machine: { boot: 'EVIL', at } },
  tokens: TOKENS,
  newer: TOKENS,
  stored: TOKENS,
  result: TOKENS,
  lease: { at, ms: 9e8, owner: 'EVIL', fence: at, settled: false },
  act: { owner: 'EVIL', n: 9e9, at: at * 2, ms: 0, version: 9e15, seenVersion: 0, now: at },
  unclear: { at, says: 'EVIL', times: 9, sinceMs: 9e8 },
  coolDown: { at, ms: null, failures: 9, isFirm: true, code: 'ERR_LOGIN_REQUIRED', kind: 'cool-down' },
  shared: { ms: 9e8, failures: 9, isFirm: true, code: 'ERR_CLOSED', kind: 'cool-down' },
}
WHOLE.state = { ...WHOLE }

/** @returns What the attacker gives a member: a value of its kind, if that is known, and the whole object. */
export const valuesOf = (name: string): readonly unknown[] =>
  name in WHOLE ? [WHOLE[name], WHOLE] : [WHOLE, true, 'EVIL', 9e9]

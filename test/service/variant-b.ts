import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import nock from 'nock'
import type { AnomalyKind } from '../../src/core/events.ts'
import { checkedGrant } from '../support/checked-grant.ts'
import type { TokenGrant, TokenSource } from '../../src/core/token-source.ts'
import { loginPassword, type LoginPasswordOptions, type Login } from '../../src/service/login-password.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { objectText } from './world.ts'

export const HOST = 'https://tokens.example'
export const PATHS = { obtain: '/api/token/', refresh: '/api/token/refresh/' }

/** Invented credentials. */
export const account: Login = { login: 'api-key-of-nobody', password: 'api-secret-of-nobody' }

/** Where the wall clock of a `ManualClock` starts. */
export const NOW = Date.UTC(2026, 0, 1)
export const SECOND = 1_000
export const HOUR = 3_600_000

/** Lets the requests of a test file reach only nock and loopback. */
export function behindNock(): void {
  beforeAll(() => {
    nock.disableNetConnect()
    nock.enableNetConnect('127.0.0.1')
  })
  afterEach(() => nock.cleanAll())
}

// The import activates nock, in a process that other test files share.
afterAll(() => {
  nock.enableNetConnect()
  nock.restore()
})

/** @returns e.g. `2026-01-01T00:00:00.000000Z`, in the form of the specification (section 2.4). */
export function stamp(at: number, micros = '000'): string {
  return new Date(at).toISOString().replace('Z', `${micros}Z`)
}

/** `meta.sign` (specification, section 5), computed by another library than that of the source. */
export function tagOf(time: string, refresh: string, { login, password } = account): string {
  return createHmac('sha256', login + password)
    .update(time + refresh)
    .digest('hex')
}

/** Members are JSON text; undefined leaves one out. */
type Members = Record<string, string | undefined>

/** The token object of a service whose clock shows `now`. */
export function pairText(attributes: Members = {}, now = NOW): string {
  const members = {
    refresh: '"refresh-1"',
    access: '"access-1"',
    access_expired_at: JSON.stringify(stamp(now + 60 * SECOND)),
    refresh_expired_at: JSON.stringify(stamp(now + 6 * HOUR)),
    is_2fa_confirmed: 'false',
    ...attributes,
  }
  return objectText({ type: '"auth-token"', id: '"7"', attributes: objectText(members) })
}

/** @param refresh The refresh token that the tag covers. @param changes Members to send instead of the right ones. */
export function metaText(time: string, refresh = 'refresh-1', changes: Members = {}, signer = account): string {
  return objectText({ time: JSON.stringify(time), sign: JSON.stringify(tagOf(time, refresh, signer)), ...changes })
}

/** An obtain response that a service sent at `now` by its clock, with a valid signature unless `meta` overrides it. */
export function obtainText({
  now = NOW,
  attributes = {},
  meta = metaText(stamp(now)),
}: { now?: number; attributes?: Members; meta?: string | undefined } = {}): string {
  return objectText({ data: pairText(attributes, now), meta })
}

/** The same without `meta`. */
export const unsignedText = (attributes: Members = {}, now = NOW) => objectText({ data: pairText(attributes, now) })

export function answer(
  exchange: keyof typeof PATHS,
  body: string,
  headers: Record<string, string> = {},
  status = 200,
): nock.Scope {
  return nock(HOST).post(PATHS[exchange]).reply(status, body, headers)
}

export interface Desk {
  readonly source: TokenSource
  readonly clock: ManualClock
  readonly reports: { kind: AnomalyKind; message: string }[]
  /** One exchange each, with its grant checked as a manager checks it. */
  obtain(): Promise<Readonly<TokenGrant>>
  refresh(refreshToken?: string): Promise<Readonly<TokenGrant>>
}

/** A source with the context of one manager. */
export function openDesk(options: object = {}, clock = manualClock()): Desk {
  const given = { baseUrl: `${HOST}/api`, ...('credentials' in options ? {} : account), ...options }
  const source = loginPassword(given as LoginPasswordOptions)
  const reports: Desk['reports'] = []
  const report = (kind: AnomalyKind, message: string) => void reports.push({ kind, message })
  const context = { signal: new AbortController().signal, clock, report }
  return {
    source,
    clock,
    reports,
    obtain: async () => checkedGrant(await source.obtain(context)),
    refresh: async (refreshToken = 'refresh-1') => checkedGrant(await source.refresh!(refreshToken, context)),
  }
}

/** A desk whose service is a function, without a socket. */
export const deskBehind = (adapter: AxiosAdapter, options: object = {}) =>
  openDesk({ transport: { adapter }, ...options })

import { describe, expect, it, jest } from '@jest/globals'
import { createTokenManager, logEvents, TokenError, type TokenSource } from '../../src/index.ts'
import { headOf, lineOf } from '../../src/inspector/head.ts'
import { type LoginEvents, person } from '../../src/login/index.ts'
import { forResource } from '../../src/oauth2/index.ts'
import { instrument } from '../../src/opentelemetry/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { readableMeter } from '../opentelemetry/sdk.ts'
import { settle } from '../support/watched-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { ORDERS } from './world.ts'

const RESOURCE = { resource: ORDERS, scope: 'orders:read' }
const NAME = `${ORDERS} orders:read`
const FAILURE = new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', '503', { outcome: 'unknown', status: 503 })
const REJECTION = new TokenError('ERR_REFRESH_REJECTED', 'used', { outcome: 'rejected', status: 401 })

/** How the token requests end of which the event tells: with an error, or with a lifetime in ms. Then tokens of 60 s. */
const CAUSES = {
  renewed: [],
  retry: [FAILURE],
  renewalFailed: [new TokenError('ERR_TOKEN_REQUEST', 'no', { outcome: 'rejected', status: 400 })],
  suspicious: [60_000, REJECTION],
  suspicionSettled: [60_000, REJECTION],
  loginChanged: [],
  anomaly: [2_000],
  storeUnavailable: [],
} satisfies Record<keyof LoginEvents, (TokenError | number)[]>

/** A manager whose service and store cause the event. */
function managerWith(kind: keyof LoginEvents, causes: (TokenError | number)[]) {
  const clock = manualClock()
  const exchange = async () => {
    const cause = causes.shift() ?? 60_000
    if (typeof cause !== 'number') throw cause
    const token = String(clock.monotonicNow() + causes.length)
    return { accessToken: token, accessLifetimeMs: cause, refreshToken: `r${token}`, refreshLifetimeMs: 6e6 }
  }
  const login = kind === 'loginChanged' ? { login: person } : {}
  const source: TokenSource = { id: 'own', resources: true, ...login, obtain: exchange, refresh: exchange }
  const register = new MemoryRegister(clock)
  if (kind === 'storeUnavailable') register.read = () => Promise.reject(new Error('down'))
  return { clock, tokens: createTokenManager({ source, store: sharedStore(register), clock, random: () => 0 }) }
}

describe('given the tokens of a resource (F424)', () => {
  it.each(Object.keys(CAUSES) as (keyof LoginEvents)[])(
    'when %s is reported, then the event, its line, the metrics and the inspector say which resource',
    async (kind) => {
      const { clock, tokens } = managerWith(kind, [...CAUSES[kind]])
      const orders = forResource(tokens, RESOURCE)
      const events: [string, { resource?: unknown }][] = []
      orders.onAny((...event) => void events.push(event))
      const lines: [{ event: string; resource: string }, string][] = []
      const log = (...line: (typeof lines)[0]) => void lines.push(line)
      logEvents(orders, { info: log, warn: log, error: log }, { name: 'shop', fields: true })
      const metrics = readableMeter()
      instrument(orders, { meter: metrics.meter })
      if (kind === 'loginChanged') void tokens.adopt({ refreshToken: 'r' })
      const waiting = orders.getAccessToken().catch(() => undefined)
      await clock.advance(10_000)
      await waiting
      await Promise.all([orders.renew().catch(() => undefined), clock.advance(10_000)])

      expect(events.map(([name]) => name)).toContain(kind)
      for (const [, { resource }] of events) expect(resource).toEqual(RESOURCE)
      expect(lines.map(([{ event }]) => event)).toContain(kind)
      for (const [fields, line] of lines) {
        expect(fields.resource).toBe(NAME)
        expect(line).toContain(`axios-evergreen (shop, ${NAME}): `)
      }
      const measured = (await metrics.read()).split('\n').filter((line) => line.startsWith('evergreen'))
      expect(measured.filter((line) => !line.includes(`evergreen_resource="${NAME}"`))).toEqual([])
      // The panel names the resource once, at its head.
      for (const [name, event] of events) expect(lineOf(name as never, event)).not.toContain('orders')
      expect(headOf(orders.status(), undefined, 0).title).toContain(NAME)
      await tokens.close()
    },
  )

  it('when a listener rejects, then a process warning says so, and nothing else happens (F431)', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const { tokens } = managerWith('renewed', [])
    const orders = forResource(tokens, RESOURCE)
    orders.on('renewed', () => Promise.reject(new TypeError('a typo')) as never)
    orders.onAny(() => Promise.reject(new TypeError('another')) as never)
    await orders.getAccessToken()
    await settle()
    const told = warned.mock.calls.filter(([message]) => String(message).startsWith('A listener of the event'))
    expect(told.length).toBe(2)
    warned.mockRestore()
    await tokens.close()
  })
})

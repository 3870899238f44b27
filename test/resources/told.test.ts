import { describe, expect, it } from '@jest/globals'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { logEvents } from '../../src/index.ts'
import { headOf, lineOf } from '../../src/inspector/head.ts'
import { forResource } from '../../src/oauth2/index.ts'
import { instrument } from '../../src/opentelemetry/index.ts'
import { NO_STORE, ORDERS, worldWith } from './world.ts'

describe('given the tokens of a resource (F424)', () => {
  it('when they are logged, measured and shown, then each says which resource', async () => {
    const { server, open, quiet } = await worldWith(NO_STORE)
    const login = open()
    const orders = forResource(login, { resource: ORDERS, scope: 'orders:read' })
    const lines: unknown[] = []
    const log = (...line: unknown[]) => void lines.push(line)
    const logger = { info: log, warn: log, error: log }
    logEvents(orders, logger, { name: 'shop', fields: true })
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 })
    const provider = new MeterProvider({ readers: [reader] })
    instrument(orders, { meter: provider.getMeter('test') })
    const shown: string[] = []
    orders.onAny((name, event) => void shown.push(lineOf(name, event)))
    await login.adopt({ refreshToken: server.login('ada') })
    await orders.getAccessToken()
    await quiet()
    await reader.forceFlush()
    expect(lines).toEqual([
      [{ event: 'loginChanged', name: 'shop', resource: `${ORDERS} orders:read`, by: 'here' }, expect.any(String)],
      [
        expect.objectContaining({ event: 'renewed', resource: `${ORDERS} orders:read` }),
        expect.stringMatching(/^axios-evergreen \(shop, https:\/\/orders.example.com orders:read\): renewed: refresh/),
      ],
    ])
    expect(JSON.stringify(exporter.getMetrics())).toContain('"evergreen.resource"')
    expect(shown.at(-1)).toMatch(/^renewed: by refresh, [^{]*$/)
    expect(headOf(orders.status(), undefined, 0).title).toContain(`${ORDERS} orders:read`)
    await provider.shutdown()
  })
})

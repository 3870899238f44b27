// Logs (pino), metrics (OpenTelemetry) and a health check, from events and status(): npm run example observability
import { metrics } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { createTokenManager, loginPassword, type TokenManager } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
import { pino } from 'pino'

function watch(tokens: TokenManager, log = pino()): void {
  tokens.on('renewed', (event) => log.info(event, 'token renewed'))
  tokens.on('retry', ({ error, ...event }) => log.warn({ ...event, err: error }, 'token call failed'))
  tokens.on('renewalFailed', ({ error, ...event }) => log.error({ ...event, err: error }, 'no token'))
  tokens.on('suspicious', (event) => log[event.severity === 'high' ? 'fatal' : 'warn'](event, 'refresh token refused'))
  tokens.on('suspicionSettled', (event) => log.warn(event, 'suspicion settled'))
  tokens.on('storeUnavailable', (event) => log.warn(event, 'shared store unavailable'))
  tokens.on('anomaly', (event) => log.warn(event, event.message))

  const meter = metrics.getMeter('payments')
  const durations = meter.createHistogram('token.renewal.duration', { unit: 'ms' })
  tokens.on('renewed', ({ by, durationMs }) => durations.record(durationMs, { by }))
  const { counts } = tokens.status()
  for (const what of Object.keys(counts) as (keyof typeof counts)[])
    meter.createObservableCounter(`token.${what}`).addCallback((result) => result.observe(tokens.status().counts[what]))
}

/** Ready unless requests would fail; an idle service, whose token has lapsed, is ready too. */
function health(tokens: TokenManager): { status: number; body: object } {
  const { phase, lastError, nextAttemptAt } = tokens.status()
  const isReady = !['cooling-down', 'stopped', 'closed'].includes(phase)
  return { status: isReady ? 200 : 503, body: { phase, lastError, nextAttemptAt } }
}

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter })
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))

const service = await startTokenService()
const tokens = createTokenManager({ source: loginPassword({ baseUrl: service.baseUrl, ...service.login }) })
watch(tokens)
service.failNext('obtain', { status: 503 })
await tokens.getAccessToken()
console.log('health', JSON.stringify(health(tokens)))

await reader.forceFlush()
for (const { descriptor, dataPoints } of exporter.getMetrics()[0]!.scopeMetrics[0]!.metrics)
  console.log(descriptor.name, JSON.stringify(dataPoints[0]?.value))
await tokens.close()
await service.close()
await reader.shutdown()

// Logs (pino), metrics and spans (OpenTelemetry) and a health check: npm run example observability
import { metrics, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createTokenManager, logEvents, loginPassword, type TokenManager } from 'axios-evergreen'
import { instrument } from 'axios-evergreen/opentelemetry'
import { startTokenService } from 'axios-evergreen/testing'
import { pino } from 'pino'

// In your own program the SDK of OpenTelemetry sets these two up, with exporters to your own tools.
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter })
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
const spans = new InMemorySpanExporter()
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))

/** Ready unless requests would fail. An idle service, whose token has expired, is ready too. */
function health(tokens: TokenManager): { status: number; body: object } {
  const { phase, lastError, nextAttemptAt } = tokens.status()
  const isReady = !['cooling-down', 'stopped', 'closed'].includes(phase)
  return { status: isReady ? 200 : 503, body: { phase, lastError, nextAttemptAt } }
}

const service = await startTokenService()
const tokens = createTokenManager({ source: loginPassword({ baseUrl: service.baseUrl, ...service.login }) })
logEvents(tokens, pino())
instrument(tokens, { meter: metrics.getMeter('payments'), tracer: trace.getTracer('payments') })
service.failNext('obtain', { status: 503 })
await tokens.getAccessToken()
console.log('health', JSON.stringify(health(tokens)))

await reader.forceFlush()
for (const { descriptor, dataPoints } of metricExporter.getMetrics()[0]!.scopeMetrics[0]!.metrics)
  for (const { attributes, value } of dataPoints)
    console.log(descriptor.name, JSON.stringify(attributes), typeof value === 'object' ? value.sum : value)
for (const { name, attributes } of spans.getFinishedSpans()) console.log('span', name, JSON.stringify(attributes))
await tokens.close()
await service.close()
await reader.shutdown()

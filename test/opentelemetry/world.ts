import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { listening } from '../service/world.ts'

/** The real SDK, and an exporter that Prometheus could scrape over HTTP. */
export async function startTelemetry() {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const metrics = new MeterProvider({ readers: [exporter] })
  const kept = new InMemorySpanExporter()
  const traces = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(kept)] })
  const address = await listening(createServer((request, reply) => exporter.getMetricsRequestHandler(request, reply)))
  return {
    meter: metrics.getMeter('test'),
    tracer: traces.getTracer('test'),
    get spans() {
      return kept.getFinishedSpans()
    },
    /** What Prometheus would read. @returns the samples by name and labels, without those of the SDK itself */
    async scrape(): Promise<Record<string, number>> {
      const text = await (await fetch(`http://${address}/metrics`)).text()
      const samples = text.split('\n').filter((line) => line.startsWith('evergreen_'))
      return Object.fromEntries(
        samples.map((line) => {
          const [, name = '', value] = /^(.*) (\S+)$/.exec(line) ?? []
          return [
            name
              .replace(/,?otel_scope_\w+="[^"]*"/g, '')
              .replace(/\{,/, '{')
              .replace('{}', ''),
            Number(value),
          ]
        }),
      )
    },
    async end() {
      await metrics.shutdown()
      await traces.shutdown()
    },
  }
}

/** Keeps the active span. OpenTelemetry's context manager would be one more package. */
export class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT
  with: ContextManager['with'] = (context, act, self, ...args) =>
    this.#storage.run(context, () => act.apply(self as never, args))
  bind: ContextManager['bind'] = (_, target) => target
  enable = () => this
  disable = () => this
}

import type { Meter } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** A meter of the real SDK, and what Prometheus would read of it, without a server. */
export function readableMeter(): { readonly meter: Meter; read(): Promise<string> } {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const serializer = new PrometheusSerializer('', false, undefined, true, true)
  return {
    meter: new MeterProvider({ readers: [exporter] }).getMeter('test'),
    async read() {
      const { resourceMetrics } = await exporter.collect()
      return serializer.serialize(resourceMetrics)
    },
  }
}

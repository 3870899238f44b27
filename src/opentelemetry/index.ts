/**
 * Metrics and spans for token managers.
 *
 * @module axios-evergreen/opentelemetry
 */
export { instrument, type InstrumentOptions } from './instrument.ts'

export { instrument, type InstrumentOptions } from './instrument.ts'

import type { TokenEvents } from '../../src/index.ts'

/** A manager that emits the events of the test. */
export function telling() {
  let told: (name: keyof TokenEvents, event: never) => void = () => undefined
  const tokens = { onAny: (listener: never) => ((told = listener), () => undefined) }
  return {
    tokens,
    tell: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => told(name, event as never),
  }
}

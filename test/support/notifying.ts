import type { TokenEvents } from '../../src/index.ts'

/** A manager that emits the events of the test. */
export function notifying() {
  let listener: (name: keyof TokenEvents, event: never) => void = () => undefined
  const tokens = { onAny: (given: never) => ((listener = given), () => undefined) }
  return {
    tokens,
    notify: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => listener(name, event as never),
  }
}

/** Waits by turns of the event loop, not by time. @throws after two minutes, which is enough for any machine. */
export async function until(holds: () => boolean): Promise<void> {
  const givenUpAt = performance.now() + 120_000
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error(`it never came to: ${String(holds)}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A promise that a test resolves by `open()`. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** The reason with which `promise` rejects. */
export async function failureOf<E = Error>(promise: Promise<unknown>): Promise<E> {
  try {
    await promise
  } catch (error) {
    return error as E
  }
  throw new Error('it was fulfilled')
}

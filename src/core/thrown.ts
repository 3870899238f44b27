/** Reads what somebody threw: it may be anything, and reading it may throw as well. */

/** @returns The member, undefined where there is none or it cannot be read. */
export function member(thrown: unknown, name: string | symbol): unknown {
  try {
    return isObject(thrown) ? (thrown as Record<string | symbol, unknown>)[name] : undefined
  } catch {
    return undefined
  }
}

/** The error and its causes: axios and fetch wrap the one that knows; of several addresses each has its own. */
export function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = []
  for (let link = thrown; isObject(link) && chain.length < 4; link = member(link, 'cause')) {
    const errors = member(link, 'errors')
    chain.push(link, ...(Array.isArray(errors) ? (errors as unknown[]) : []))
  }
  return chain
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

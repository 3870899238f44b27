interface Open<Manager, Input> {
  readonly tokens: Manager
  /** From the latest use: an assertion expires, and the next token request needs a new one. */
  input: Input
  uses: number
  usedAt: number
}

/**
 * A manager for each user and API.
 *
 * @param create Receives a function that returns the input of the latest use.
 * @param limits `max`: how many stay open. `idleMs`: a manager unused for this long is closed when another is used.
 */
export function managersFor<Manager extends { close(): Promise<unknown> }, Input>(
  create: (user: string, api: string, input: () => Input) => Manager,
  { max = 1_000, idleMs = 600_000, now = Date.now } = {},
) {
  /** The least recently used first. */
  const all = new Map<string, Open<Manager, Input>>()
  const closeOld = () => {
    for (const [key, { tokens, uses, usedAt }] of all) {
      if (all.size <= max && now() - usedAt < idleMs) return
      if (uses === 0 && all.delete(key)) tokens.close().catch(console.warn)
    }
  }
  return {
    size: () => all.size,
    async use<Result>(user: string, api: string, input: Input, work: (tokens: Manager) => Promise<Result>) {
      if (!user || !api) throw new TypeError(`managersFor needs a user and an API, got '${user}' and '${api}'`)
      const key = JSON.stringify([user, api])
      const open: Open<Manager, Input> = all.get(key) ?? {
        tokens: create(user, api, () => open.input),
        input,
        uses: 0,
        usedAt: 0,
      }
      Object.assign(open, { input, uses: open.uses + 1, usedAt: now() })
      all.delete(key)
      all.set(key, open)
      closeOld()
      try {
        return await work(open.tokens)
      } finally {
        open.uses -= 1
      }
    },
    close: async () => void (await Promise.all([...all.values()].map(({ tokens }) => tokens.close()))),
  }
}

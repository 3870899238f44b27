import { afterEach } from '@jest/globals'
import {
  type Clock,
  createTokenManager,
  type TokenEvents,
  type TokenGrant,
  type TokenManager,
  type TokenManagerOptions,
  type TokenSource,
} from '../../../src/index.ts'

/** Issues `token-1`, `token-2`, …, and counts its calls. */
export interface Mint {
  readonly source: TokenSource
  /** Exchanges started. */
  readonly calls: number
  /** From now on exchanges wait for `release`. */
  hold(): void
  /** Ends all waiting exchanges, and no longer holds new ones. */
  release(): void
  /** From now on exchanges reject with `error`. */
  fail(error: unknown): void
}

export interface MintOptions {
  origin?: string
  name?: string
  lifetimeMs?: number
  /** Instead of `token-<n>`. */
  token?: (n: number) => string
}

export function mint({
  origin,
  name = 'token',
  lifetimeMs = 60_000,
  token = (n) => `${name}-${n}`,
}: MintOptions = {}): Mint {
  let calls = 0
  let failure: { error: unknown } | undefined
  let gate: { opened: Promise<void>; open: () => void } | undefined
  const obtain = async (): Promise<TokenGrant> => {
    calls += 1
    const accessToken = token(calls)
    await gate?.opened
    if (failure) throw failure.error
    return { accessToken, accessLifetimeMs: lifetimeMs }
  }
  return {
    source: { id: name, ...(origin !== undefined && { origin }), obtain },
    get calls() {
      return calls
    },
    hold() {
      let open = () => {}
      const opened = new Promise<void>((resolve) => (open = resolve))
      gate = { opened, open }
    },
    release() {
      gate?.open()
      gate = undefined
    },
    fail: (error) => (failure = { error }),
  }
}

const managers: TokenManager[] = []

/** A manager that is closed when the test ends. */
export function managerOf(source: TokenSource, options: Omit<TokenManagerOptions, 'source'> = {}): TokenManager {
  const tokens = createTokenManager({ source, random: () => 0, ...options })
  managers.push(tokens)
  return tokens
}

afterEach(() => {
  // Not awaited: an exchange that a test left pending would hang here too.
  for (const tokens of managers.splice(0)) void tokens.close()
})

export interface World {
  readonly minted: Mint
  readonly tokens: TokenManager
  readonly anomalies: TokenEvents['anomaly'][]
}

/** A mint, the manager of its tokens, and the anomalies that it reports. */
export function startTokens({ clock, ...options }: MintOptions & { clock?: Clock } = {}): World {
  const minted = mint(options)
  const tokens = managerOf(minted.source, { clock })
  const anomalies: TokenEvents['anomaly'][] = []
  tokens.on('anomaly', (event) => void anomalies.push(event))
  return { minted, tokens, anomalies }
}

import { randomUUID } from 'node:crypto'
import { createTokenManager, isTokenError, type TokenManager, type TokenStore } from '../../src/index.ts'
import { Misuse } from './misuse.ts'
import type { Findings, Problem, StoreFindings } from './findings.ts'
import { storeOfFile } from './sqlite-file.ts'
import { checkExists, exportsOf, isModule } from './user-module.ts'

/** A renewal reads the record, and writes it twice: when it acquires the lease, and when it stores the tokens. */
const STEPS_OF_RENEWAL = 3

/** Stores a test token under a random key, checks that a second manager finds it, and deletes it. What remains of the record has no token, and expires within two days. */
export async function checkStore(store: TokenStore, findings: Findings): Promise<void> {
  const failures: string[] = []
  const id = `doctor ${randomUUID()}`
  const managers = [1, 2].map(() => managerOn(store, id, failures, findings))
  try {
    findings.store = { kind: store.kind, ...(await shared(managers as [TokenManager, TokenManager])) }
  } catch (error) {
    if (!isTokenError(error)) throw error
    failures.push(error.message)
  } finally {
    for (const tokens of managers) await tokens.close()
  }
  const [message] = failures
  if (message === undefined) return
  findings.store = { kind: store.kind }
  findings.problems.push(storeProblem(message))
}

export function storeProblem(message: string): Problem {
  return { step: 'store', code: 'ERR_STORE_UNAVAILABLE', message, advice: [ADVICE] }
}

const ADVICE = 'Until the store works, each process obtains tokens for itself, and logins cannot be renewed'

function managerOn(store: TokenStore, id: string, failures: string[], { oddities }: Findings): TokenManager {
  const obtain = () => Promise.resolve({ accessToken: 'token-of-the-doctor', accessLifetimeMs: 60_000 })
  const tokens = createTokenManager({ source: { id, obtain }, store, renewal: { keepWarm: 'never' } })
  tokens.on('storeUnavailable', ({ message }) => failures.push(message))
  tokens.on('anomaly', ({ message }) => {
    if (!oddities.includes(message)) oddities.push(message)
  })
  return tokens
}

async function shared([one, other]: [TokenManager, TokenManager]): Promise<Pick<StoreFindings, 'stepMs' | 'isShared'>> {
  const startedAt = performance.now()
  await one.getAccessToken()
  const stepMs = Math.round(((performance.now() - startedAt) / STEPS_OF_RENEWAL) * 10) / 10
  await other.getAccessToken()
  const isShared = other.status().counts.obtains === 0
  await one.reset()
  return { stepMs, isShared }
}

/** @param file A module that exports a store; any other file is one of `sqliteStore()`. @throws {Misuse} */
export async function storeIn(file: string): Promise<TokenStore> {
  checkExists('--store', file)
  if (!isModule(file)) return storeOfFile('--store', file, ', or pass a module that exports another store')
  const { default: standard, store = standard } = await exportsOf('--store', file)
  // Other objects may have a kind as well. createTokenManager checks the other members.
  if (typeof (store as Partial<TokenStore> | undefined)?.kind !== 'string')
    throw new Misuse(
      '--store must be a file of sqliteStore(), or a module that exports a store, as default or as store',
    )
  return store as TokenStore
}

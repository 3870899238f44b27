import { isTokenError } from 'axios-evergreen'

/** A refresh token that met a 5xx may be presented this often in all. */
const MOST_PRESENTATIONS = 3
/** How far the service's clock, in whole milliseconds, may be behind the clock of this thread. */
const CLOCKS_MS = 5
/** How many tokens are remembered: enough for any request or token call that is still on its way. */
const REMEMBERED = 20

/**
 * Stands between one manager and its token source, and checks every token call against the rules. Its own memory does not
 * grow, because the soak measures the heap of the library.
 */
export class TokenCalls {
  #account
  #onTheWay = 0
  /** By refresh token. */
  #fates = new Map()
  /** By access token: `asked`, the moment of its token call, and `expiredAt`, from when on the token has certainly expired. */
  #grants = new Map()
  #retiredAt = 0

  /** @param account `{ name, variant, tally, now, lifetimeMs, onCall }`; `onCall` is called as soon as a token call has begun. */
  constructor(account) {
    this.#account = account
  }

  /** @returns The same source, watched. */
  around(source) {
    return {
      id: source.id,
      origin: source.origin,
      obtain: (context) => this.#call('obtain', context, () => source.obtain(context)),
      ...(source.refresh && {
        refresh: (refreshToken, context) =>
          this.#call('refresh', context, () => source.refresh(refreshToken, context), refreshToken),
      }),
      reset: () => source.reset?.(),
    }
  }

  grantOf(accessToken) {
    return this.#grants.get(accessToken)
  }

  /** After a reset the manager may present no refresh token from before, nor one of a token call that began before. */
  retireAll() {
    this.#retiredAt = this.#account.now()
    for (const fate of this.#fates.values()) fate.isSpent = true
  }

  async #call(kind, { signal }, exchange, refreshToken) {
    const { name, variant, tally, now, onCall } = this.#account
    onCall()
    const asked = now()
    this.#onTheWay += 1
    if (this.#onTheWay > 1) tally.breach('twoCalls', name)
    const fate = kind === 'refresh' ? this.#presented(refreshToken) : undefined
    let isOver = false
    const end = (told, error) => {
      if (isOver) return false
      isOver = true
      this.#onTheWay -= 1
      if (fate) settle(fate, error)
      tally.add(variant, 'calls', `${kind}: ${told}`)
      return true
    }
    // At the deadline the manager goes on, whether or not the source has noticed it.
    signal.addEventListener('abort', () => end('no answer in time', {}), { once: true })
    try {
      const grant = await exchange()
      if (end('a new token')) this.#remember(grant, asked)
      return grant
    } catch (error) {
      if (!isTokenError(error)) tally.breach('stranger', `${name}: its source threw ${error}`)
      end(`${error.code}${error.status === undefined ? '' : `, ${error.status}`}`, error)
      throw error
    }
  }

  #presented(refreshToken) {
    const fate = this.#fates.get(refreshToken) ?? { isSpent: true, failures: 0 }
    if (fate.isSpent || fate.failures >= MOST_PRESENTATIONS) this.#account.tally.breach('spent', this.#account.name)
    return fate
  }

  #remember({ accessToken, refreshToken }, asked) {
    const expiredAt = performance.now() + this.#account.lifetimeMs + CLOCKS_MS
    this.#grants.set(accessToken, { asked, expiredAt })
    if (refreshToken !== undefined) this.#fates.set(refreshToken, { isSpent: asked < this.#retiredAt, failures: 0 })
    for (const memory of [this.#grants, this.#fates])
      if (memory.size > REMEMBERED) memory.delete(memory.keys().next().value)
  }
}

/** What one presentation did to a refresh token. @param error Undefined: the service accepted the token. */
function settle(fate, error) {
  const { outcome, status } = error ?? {}
  if (outcome === 'unknown-5xx') fate.failures += 1
  // These outcomes have not used the refresh token. All others have, or may have.
  const isUntouched = outcome === 'rejected' && status !== 400 && status !== 401
  if (!['unknown-5xx', 'deferred', 'not-sent'].includes(outcome) && !isUntouched) fate.isSpent = true
}

import { LoginGenerations } from '../core/login-generations.ts'
import { isSame, type Login, type State } from './worker-messages.ts'

/** An act of a page. */
export interface PageAct {
  readonly isAdopt: boolean
  /** Whether this act may keep the login: requests of the page continue unless the worker responds with another login. */
  readonly mayStay: boolean
  /** An earlier act has no response yet, so the login that this act addresses is unknown. */
  readonly follows: boolean
}

/**
 * The login of a worker as one page knows it, and which requests of the page belong to it. While an act of the page is in flight, the page predicts its
 * effect. Afterwards it follows the worker.
 */
export class PageLogin {
  readonly generations = new LoginGenerations()
  /** The login that `generations` represents. */
  current: Login
  /** The subject of that login, if this page has adopted it. */
  #subject: string | undefined
  /** The last act, until it has ended. */
  #deciding: PageAct | undefined

  constructor({ login, isLoginAwaited }: State) {
    this.current = login
    if (isLoginAwaited) this.generations.lossReported()
  }

  /** Whether a caller of this generation belongs to an ended login. */
  isPast(generation: number, { hasLogins }: State): boolean {
    return hasLogins && generation < this.generations.first
  }

  /** Whether there is a login. While an act of this page is in flight, the act decides. */
  isPresent({ status }: State): boolean {
    return this.#deciding?.isAdopt ?? status.login === 'present'
  }

  /** Whether an act has no response yet, and decides which login requests of this page belong to. */
  get arePending(): boolean {
    return this.#deciding !== undefined
  }

  /** Begins an act. For requests of this page it takes effect immediately. */
  begins(name: string, state: State, subject?: string): PageAct {
    const isAdopt = name === 'adopt'
    const isSameUser = subject !== undefined && subject === this.#subject
    // Callers that wait because there is no login receive its token.
    const isFirst = isAdopt && state.hasLogins && !this.isPresent(state)
    const mayStay = isSameUser || isFirst
    this.#subject = subject
    if (!mayStay) this.generations.end()
    return (this.#deciding = { isAdopt, mayStay, follows: this.arePending })
  }

  /** The worker has performed an act. Only the last one determines the login, whenever the responses arrive. @param own The resulting login. */
  performed(act: PageAct, own: Login): void {
    if (act !== this.#deciding) return
    if (act.mayStay && !isSame(this.current, own)) this.generations.replaced()
    this.current = own
    if (act.isAdopt) this.generations.started()
  }

  /** An act has ended, even if it got no response. */
  ended(act: PageAct): void {
    if (act === this.#deciding) this.#deciding = undefined
  }

  /**
   * Follows the worker.
   *
   * @param isTold Listeners of this page are notified of this login: unless an `adopt` is in flight, requests from now on belong to it.
   * @returns Whether anything may have changed.
   */
  follow({ login, isLoginAwaited }: State, isTold?: boolean): boolean {
    if (isTold && !this.#deciding?.isAdopt) this.#deciding = undefined
    if (this.arePending) return false
    if (!isSame(this.current, login)) {
      this.current = login
      this.generations.replaced()
      this.#subject = undefined
    }
    if (!isLoginAwaited) this.generations.started()
    return true
  }
}

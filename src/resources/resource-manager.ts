import type { AnyListener, LoginEvents, TokenEvents } from '../core/events.ts'
import { INTERNALS, internalsOf } from '../core/manager-internals.ts'
import { bare } from '../core/whole.ts'
import { checkFunction } from '../core/option-checks.ts'
import type { LoginStatus } from '../core/status.ts'
import type { LoginManager, ResourceTokens } from '../core/token-manager.ts'
import type { ResourceOptions } from '../core/resource.ts'
import type { WaitOptions } from '../core/waiting-room.ts'

export class ResourceManager implements ResourceTokens {
  readonly #tokens: LoginManager
  readonly #resource: ResourceOptions
  readonly #onClose: () => void
  #isUsed = false

  constructor(tokens: LoginManager, resource: ResourceOptions, onClose: () => void) {
    this.#tokens = tokens
    this.#resource = resource
    this.#onClose = onClose
    // Not a computed member of the class, which bundlers would keep for an application that does not use it.
    const get = () => {
      const { parts: _, ...internals } = internalsOf(tokens) ?? {}
      return bare({ ...internals, resource })
    }
    Object.defineProperty(this, INTERNALS, bare({ get }))
  }

  getAccessToken(options?: WaitOptions): Promise<string> {
    this.#isUsed = true
    return this.#tokens.getAccessToken(options)
  }

  peekAccessToken(): string | undefined {
    this.#isUsed = true
    return this.#tokens.peekAccessToken()
  }

  replaceAccessToken(refused: string, options?: WaitOptions): Promise<string> {
    return this.#tokens.replaceAccessToken(refused, options)
  }

  renew(options?: WaitOptions): Promise<void> {
    return this.#tokens.renew(options)
  }

  status(): LoginStatus {
    return { ...this.#tokens.status(), resource: this.#resource }
  }

  on<Name extends keyof LoginEvents>(name: Name, listener: (event: LoginEvents[Name]) => void): () => void {
    checkFunction('The listener', listener)
    return this.#tokens.on(name, (event) => listener(this.#named(event)))
  }

  onAny(listener: AnyListener | AnyListener<TokenEvents>): () => void {
    checkFunction('The listener', listener)
    // Returns what the listener returns: if it is a promise that rejects, the rejection is reported (F431).
    const named: AnyListener = (name, event) =>
      Reflect.apply(listener, undefined, [name, this.#named(event)]) as unknown
    return this.#tokens.onAny(named)
  }

  #named<Event extends object>(event: Event): Event {
    return Object.freeze({ ...event, resource: this.#resource })
  }

  settled(): Promise<void> {
    return this.#tokens.settled()
  }

  close(): Promise<void> {
    this.#onClose()
    return this.#tokens.close()
  }

  /** Starts over, because the manager of its credentials was reset. The resource has a record of its own. */
  restart(): void {
    // `reset` reports errors of the store.
    this.#tokens.reset().catch(() => undefined)
  }

  /** Whether the token was used since the record was last updated. */
  get isUsed(): boolean {
    return this.#isUsed
  }

  /** The record has stored the last use. */
  useWritten(): void {
    this.#isUsed = false
  }
}

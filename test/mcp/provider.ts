/** What the SDK keeps of one client: in memory, as a simple program would. `pages` are those that it opened for the user. */
export class Provider {
  readonly pages: URL[] = []
  readonly invalidated: string[] = []
  readonly redirectUrl = 'http://127.0.0.1:9/callback'
  readonly #kept = new Map<string, unknown>()

  get clientMetadata() {
    return {
      client_name: 'tests',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }
  }
  clientInformation() {
    return this.#kept.get('client') as never
  }
  saveClientInformation(client: unknown) {
    this.#kept.set('client', client)
  }
  tokens(): never {
    throw new Error('nobody may ask the provider for tokens')
  }
  saveTokens(): never {
    throw new Error('nobody may give the provider tokens')
  }
  codeVerifier() {
    return this.#kept.get('verifier') as string
  }
  saveCodeVerifier(verifier: string) {
    this.#kept.set('verifier', verifier)
  }
  redirectToAuthorization(page: URL) {
    this.pages.push(page)
  }
  invalidateCredentials(scope: string) {
    this.invalidated.push(scope)
    if (scope === 'client') this.#kept.delete('client')
  }
}

/** Keeps the discovery of the SDK, too. */
export class KeepingProvider extends Provider {
  #state: unknown
  discoveryState() {
    return this.#state as never
  }
  saveDiscoveryState(state: unknown) {
    this.#state = state
  }
}

// An OAuthClientProvider, as the documentation of the SDK shows it. Nothing here knows of axios-evergreen.
export class Provider {
  redirectUrl = 'http://127.0.0.1:8123/callback'
  clientMetadata = { client_name: 'example', redirect_uris: [this.redirectUrl] }
  #client
  #verifier

  clientInformation() {
    return this.#client
  }
  saveClientInformation(client) {
    this.#client = client
  }
  codeVerifier() {
    return this.#verifier
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier
  }
  redirectToAuthorization(page) {
    console.log('The SDK opens the page of the login.')
    this.page = page
  }
}

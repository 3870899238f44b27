/** Tests of what only the http adapter of axios offers, by the beginning of their full titles. Runs under fetch leave them out. */
export const HTTP_ONLY = [
  ['given a certificate that the user trusts', 'it is trusted through an https agent; fetch has no agents'],
  ['given transport settings when they name an agent', 'fetch has no agents'],
  ['given transport settings when they name a lookup', 'fetch has no lookup'],
  ['given transport settings when they name a socket path', 'fetch has no socket paths'],
  ['given a proxy in the environment (F38) when transport.proxy names one', 'fetch has no proxy setting'],
  ['given clientCredentials, and a proxy in the environment', 'fetch reads no variables of proxies'],
  ['given oauth2, and a proxy in the environment', 'fetch reads no variables of proxies'],
  ['given oidc-provider, and a client that authenticates by its certificate', 'fetch has no agents'],
  ['given the origins that may receive the token when a url is a URL', 'from 1.17 on this adapter takes text only'],
]

/** Node 20 lacks it, and `oidc-provider` calls it. Only the thread that imports this file gets it, not the package under test. */
URL.parse ??= (...given) => (URL.canParse(...given) ? new URL(...given) : null)

interface Page {
  readonly document?: { readonly baseURI?: string }
  readonly location?: { readonly href?: string }
}

/** @returns The address against which a browser resolves relative ones; undefined without a page. Read at each call: it may change. */
export function pageUrl(): string | undefined {
  const { document, location } = globalThis as Page
  return document?.baseURI ?? location?.href
}

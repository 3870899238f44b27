interface Page {
  readonly document?: { readonly baseURI?: string }
  readonly location?: { readonly href?: string }
}

/** @returns What a browser resolves relative addresses against; undefined where there is no page. Looked up at each call: pages go on. */
export function pageUrl(): string | undefined {
  const { document, location } = globalThis as Page
  return document?.baseURI ?? location?.href
}

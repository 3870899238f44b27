import { Axios, type InternalAxiosRequestConfig } from 'axios'
import { memberOf } from './member-of.ts'

/** Knows axios' own rule for combining `baseURL` and `url`, and nobody's defaults. */
const combiner = /* @__PURE__ */ new Axios()

/** Tells where a request is going, from its final config. */
export class OriginScope {
  #baseURL: string | undefined
  #baseOrigin: string | undefined

  /** @returns The origin of the final URL; undefined where it has none, or carries a user of its own. */
  originOf(config: InternalAxiosRequestConfig): string | undefined {
    const baseURL = memberOf(config, 'baseURL')
    const allowAbsoluteUrls = memberOf(config, 'allowAbsoluteUrls')
    const url = memberOf(config, 'url') ?? ''
    // Without `//` axios takes a URL as relative: nothing is parsed as long as baseURL stays the same.
    if (!baseURL || url.includes('//')) {
      return originOfUrl(() =>
        combiner.getUri({
          url,
          ...(allowAbsoluteUrls === false && { allowAbsoluteUrls }),
          ...(baseURL && { baseURL }),
        }),
      )
    }
    if (baseURL !== this.#baseURL) {
      this.#baseURL = baseURL
      this.#baseOrigin = originOfUrl(() => baseURL)
    }
    return this.#baseOrigin
  }
}

function originOfUrl(text: () => string): string | undefined {
  try {
    const { origin, username, password } = new URL(text())
    // axios makes Basic credentials of these, in place of any other header.
    return username || password ? undefined : origin
  } catch {
    return undefined // axios refuses it as well, and says why
  }
}

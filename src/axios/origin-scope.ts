import { Axios, type InternalAxiosRequestConfig } from 'axios'
import { memberOf } from './member-of.ts'
import { pageUrl } from './page.ts'

/** Knows axios' own rule for combining `baseURL` and `url`, and nobody's defaults. */
const combiner = /* @__PURE__ */ new Axios()

/** Tells where a request is going, from its final config. */
export class OriginScope {
  #baseURL: string | undefined
  #baseOrigin: string | undefined

  /** @returns The origin of the final URL; undefined where it has none, or carries a user of its own. */
  originOf(config: InternalAxiosRequestConfig): string | undefined {
    const baseURL = memberOf(config, 'baseURL')
    // Without `//` axios takes a URL as relative: nothing is parsed as long as baseURL stays the same.
    if (baseURL && !memberOf(config, 'url')?.includes('//')) {
      if (baseURL !== this.#baseURL) {
        this.#baseURL = baseURL
        // Not against the page: behind a baseURL of `/`, a url of `\\host` leads to another origin.
        this.#baseOrigin = originOfUrl(() => new URL(baseURL))
      }
      if (this.#baseOrigin !== undefined) return this.#baseOrigin
    }
    return originOfUrl(() => new URL(combined(config), pageUrl()))
  }
}

/** @returns What axios asks for, without a fragment; undefined where it is no address. */
export function addressOf(config: InternalAxiosRequestConfig): string | undefined {
  try {
    const query = {
      params: memberOf(config, 'params') as unknown,
      paramsSerializer: memberOf(config, 'paramsSerializer') ?? null,
    }
    const url = new URL(combiner.getUri({ ...query, url: combined(config) } as object), pageUrl())
    url.hash = ''
    return url.href
  } catch {
    return undefined
  }
}

function combined(config: InternalAxiosRequestConfig): string {
  const baseURL = memberOf(config, 'baseURL')
  const allowAbsoluteUrls = memberOf(config, 'allowAbsoluteUrls')
  return combiner.getUri({
    url: memberOf(config, 'url') ?? '',
    ...(allowAbsoluteUrls === false && { allowAbsoluteUrls }),
    ...(baseURL && { baseURL }),
  })
}

function originOfUrl(parse: () => URL): string | undefined {
  try {
    const { origin, username, password } = parse()
    // axios makes Basic credentials of these, in place of any other header.
    return username || password ? undefined : origin
  } catch {
    return undefined // axios refuses it as well, and says why
  }
}

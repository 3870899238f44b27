import type { InternalAxiosRequestConfig } from 'axios'
import { memberOf } from './member-of.ts'
import { ownAxios } from './own-axios.ts'
import { pageUrl } from '../client/origins.ts'
import { quietly } from '../core/thrown.ts'

/** Determines the origin of a request from its final config. */
export class OriginScope {
  #baseURL: string | undefined
  #baseOrigin: string | undefined

  /** @returns The origin of the final URL; undefined if there is none, or if the URL contains a user name or a password. */
  originOf(config: InternalAxiosRequestConfig): string | undefined {
    const baseURL = memberOf(config, 'baseURL')
    // axios treats a URL without `//` as relative, so nothing is parsed as long as baseURL stays the same.
    if (baseURL && !urlIn(config).includes('//')) {
      if (baseURL !== this.#baseURL) {
        this.#baseURL = baseURL
        // The baseURL is not resolved against the page: with `/`, a url of `\\host` would lead to another origin.
        this.#baseOrigin = originOfUrl(() => new URL(baseURL))
      }
      if (this.#baseOrigin !== undefined) return this.#baseOrigin
    }
    return originOfUrl(() => new URL(combined(config), pageUrl()))
  }
}

/** @returns The URL that axios requests, without a fragment; undefined if it is invalid. */
export function addressOf(
  config: InternalAxiosRequestConfig,
  paramsSerializer: unknown = memberOf(config, 'paramsSerializer') ?? null,
): string | undefined {
  try {
    const query = { params: memberOf(config, 'params') as unknown, paramsSerializer }
    const url = new URL(ownAxios().getUri({ ...query, url: combined(config) } as object), pageUrl())
    url.hash = ''
    return url.href
  } catch {
    return undefined
  }
}

/** @returns The `url` as text. Callers also pass URL objects. Empty if it cannot be converted to text: axios rejects it with its own error. */
function urlIn(config: InternalAxiosRequestConfig): string {
  const url: unknown = memberOf(config, 'url') ?? ''
  return typeof url === 'string' ? url : (quietly(() => String(url)) ?? '')
}

function combined(config: InternalAxiosRequestConfig): string {
  const baseURL = memberOf(config, 'baseURL')
  const allowAbsoluteUrls = memberOf(config, 'allowAbsoluteUrls')
  return ownAxios().getUri({
    url: urlIn(config),
    ...(allowAbsoluteUrls === false && { allowAbsoluteUrls }),
    ...(baseURL && { baseURL }),
  })
}

function originOfUrl(parse: () => URL): string | undefined {
  try {
    const { origin, username, password } = parse()
    // axios turns these into Basic credentials, which replace the Authorization header.
    return username || password ? undefined : origin
  } catch {
    return undefined // axios rejects the URL, too, with its own error
  }
}

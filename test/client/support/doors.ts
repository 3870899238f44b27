import axios, { type AxiosRequestConfig } from 'axios'
import { withBearer } from '../../../src/fetch/index.ts'
import { attachBearer, type TokenManager } from '../../../src/index.ts'
import type { DPoPKey } from '../../../src/dpop/index.ts'

/** A request as the rows of the tables write it. */
export interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Blob | FormData | URLSearchParams | Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
}
export interface Received {
  readonly status: number
  readonly text: string
}
/** Sends one request to an absolute address. Responses of every status are returned, errors are errors. */
export type Send = (url: string, asked?: Asked) => Promise<Received>

export interface DoorOptions {
  origins?: string[]
  header?: string
  scheme?: string
  dpop?: DPoPKey | Promise<DPoPKey>
}
/** A client library with the attachment for it. */
export interface Door {
  readonly name: string
  readonly open: (tokens: TokenManager, options: DoorOptions) => Send
}

const axiosDoor = (adapter: 'http' | 'fetch'): Door => ({
  name: `attachBearer, ${adapter} adapter`,
  open(tokens, options) {
    const api = axios.create({
      adapter,
      validateStatus: () => true,
      responseType: 'text',
      transformResponse: [],
      proxy: false,
    })
    attachBearer(api, tokens, options)
    return async (url, { method = 'GET', headers, body, signal } = {}) => {
      const config: AxiosRequestConfig = {
        url,
        method,
        data: body,
        ...(headers && { headers }),
        ...(signal && { signal }),
      }
      const { status, data } = await api.request<string>(config)
      return { status, text: data }
    }
  },
})

const fetchDoor: Door = {
  name: 'withBearer',
  open(tokens, options) {
    const api = withBearer(fetch, tokens, options)
    return async (url, asked = {}) => {
      const response = await api(url, asked)
      return { status: response.status, text: await response.text() }
    }
  },
}

export const DOORS: readonly Door[] = [axiosDoor('http'), axiosDoor('fetch'), fetchDoor]

import type { AxiosInstance, AxiosResponse } from 'axios'

/** One object of each kind, which all requests of an application share. Each request has a number, and writes it into all of them. */
export class SharedObjects {
  readonly #url: URL
  readonly #init = { method: 'POST', headers: new Headers(), body: new URLSearchParams() }
  readonly #config = { url: '/', method: 'post', params: new URLSearchParams(), data: new FormData() }

  constructor(origin: string) {
    this.#url = new URL(origin)
  }

  /** Calls at once, and changes the objects after the call. */
  fetched(send: (url: URL, init: RequestInit) => Promise<Response>, number: number): Promise<Response> {
    this.#say(number)
    const sent = send(this.#url, this.#init)
    this.#say(-1)
    return sent
  }

  /** Calls at once, and changes the objects after the call. */
  asked(instance: AxiosInstance, number: number): Promise<AxiosResponse> {
    this.#say(number)
    const sent = instance.request(this.#config)
    this.#say(-1)
    return sent
  }

  #say(number: number): void {
    const said = String(number)
    this.#url.pathname = said
    this.#init.headers.set('x-number', said)
    this.#init.body.set('n', said)
    this.#config.url = `/${said}`
    this.#config.params.set('n', said)
    this.#config.data.set('n', said)
  }
}

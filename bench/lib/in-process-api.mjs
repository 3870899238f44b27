import axios, { AxiosError } from 'axios'

/** An axios instance whose adapter responds at once, on this thread, whatever the token. */
export function answeringAtOnce() {
  const adapter = (config) => Promise.resolve(answer(config, 200))
  return axios.create({ baseURL: BASE_URL, adapter })
}

/** An axios instance whose adapter accepts good tokens only. */
export function checking(isGood) {
  const adapter = async (config) => {
    const response = answer(config, isGood(config.headers.get('Authorization')) ? 200 : 401)
    if (config.validateStatus(response.status)) return response
    throw new AxiosError(
      `Request failed with status code ${response.status}`,
      undefined,
      config,
      response.request,
      response,
    )
  }
  return axios.create({ baseURL: BASE_URL, adapter })
}

export const BASE_URL = 'http://127.0.0.1:1'

function answer(config, status) {
  return { data: '', status, statusText: '', headers: {}, config, request: new SentRequest(config) }
}

/** Stands for Node's request, which responses of real adapters contain: a library that hides the token must handle it. */
class SentRequest {
  constructor({ method, url }) {
    this.method = method
    this.path = url
  }

  getHeader() {
    return undefined
  }
}

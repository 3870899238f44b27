import { afterEach, jest } from '@jest/globals'
import type { SimulatedService, SimulatedServiceOptions } from '../../tools/testing/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'

const opened: SimulatedService[] = []

/** A service that is closed when the test ends. */
export async function startWorld(options?: SimulatedServiceOptions): Promise<SimulatedService> {
  const service = await startTokenService(options)
  opened.push(service)
  return service
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((service) => service.close()))
})

export const jsonApi = { 'Content-Type': 'application/vnd.api+json' }

export function post(service: SimulatedService, path: string, attributes: object, signal?: AbortSignal) {
  const body = JSON.stringify({ data: { type: 'auth-token', attributes } })
  return fetch(service.baseUrl + path, { method: 'POST', headers: jsonApi, body, signal: signal ?? null })
}

export const obtainAsClient = (service: SimulatedService) =>
  post(service, '/token/', { client_id: service.client.clientId, client_secret: service.client.clientSecret })

export const obtainAsLogin = (service: SimulatedService, signal?: AbortSignal) =>
  post(service, '/token/', { ...service.login }, signal)

export const refresh = (service: SimulatedService, token: string) =>
  post(service, '/token/refresh/', { refresh: token })

export interface TokenObject {
  type: string
  id: string
  attributes: {
    access: string
    refresh: string
    access_expired_at: string
    refresh_expired_at: string
    is_2fa_confirmed: boolean
  }
}

export interface ObtainDocument {
  data: TokenObject
  meta: { time: string; sign: string }
}

/** The attributes of the token set that an obtain returns. */
export async function newPair(service: SimulatedService): Promise<TokenObject['attributes']> {
  return ((await (await obtainAsLogin(service)).json()) as ObtainDocument).data.attributes
}

export const callApi = (service: SimulatedService, access: string, path = '/orders') =>
  fetch(service.baseUrl + path, { headers: { Authorization: `Bearer ${access}` } })

/** Status and application code of a response. */
export async function verdict(response: Response): Promise<[number, string | undefined]> {
  const { errors } = (await response.json()) as { errors?: { code?: string }[] }
  return [response.status, errors?.[0]?.code]
}

/** Stops the clock of the machine at `now`, until the test sets it again. */
export function standAt(now: number): void {
  jest.spyOn(Date, 'now').mockReturnValue(now)
}

/** Waits for turns of the event loop, not for time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

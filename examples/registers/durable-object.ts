import type { TokenRegister } from 'axios-evergreen/store'

/** The part of a Durable Object's state that the recipe uses. */
interface State {
  readonly storage: {
    get(name: string): Promise<unknown>
    put(name: string, value: string): Promise<void>
    setAlarm(at: number): Promise<void>
    deleteAll(): Promise<void>
  }
}
interface Namespace {
  idFromName(name: string): unknown
  get(id: never): { fetch(url: string, init?: RequestInit): Promise<Response> }
}

/** Export this class from the worker, and bind it. Each object holds one record. */
export class TokenObject {
  readonly #storage: State['storage']
  constructor({ storage }: State) {
    this.#storage = storage
  }

  /** While storage is awaited, an object receives no other request: nothing comes between the comparison and the write. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === 'GET') return Response.json({ now: Date.now(), value: await this.#storage.get('record') })
    const { expected, value, keepMs } = (await request.json()) as { expected?: string; value: string; keepMs: number }
    if ((await this.#storage.get('record')) !== expected) return Response.json(false)
    await Promise.all([this.#storage.put('record', value), this.#storage.setAlarm(Date.now() + keepMs)])
    return Response.json(true)
  }

  alarm(): Promise<void> {
    return this.#storage.deleteAll()
  }
}

/** Cloudflare Durable Objects. @param namespace The binding, such as `env.TOKENS`. */
export function durableObjectRegister(namespace: Namespace): TokenRegister {
  const objectOf = (key: string) => namespace.get(namespace.idFromName(key) as never)
  const url = 'https://object/'
  return {
    kind: 'durable-object',
    read: async (key) => (await objectOf(key).fetch(url)).json() as Promise<{ now: number; value?: string }>,
    async replace(key, expected, value, keepMs) {
      const body = JSON.stringify({ expected, value, keepMs })
      return (await objectOf(key).fetch(url, { method: 'POST', body })).json() as Promise<boolean>
    },
  }
}

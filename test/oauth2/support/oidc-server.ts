import type { webcrypto } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { join } from 'node:path'
import { type RealServer, type RealServerSettings, redeemed } from './real-server.ts'

interface Started {
  readonly issuer: string
  readonly tokenEndpoint: string
  /** Of the client `key-client`. */
  readonly privateKey: webcrypto.JsonWebKey
}

export interface OidcServer extends RealServer, Started {}

/** Starts a file of this folder on a thread. @returns functions that control it and end it */
export function startThread(file: string, settings?: object) {
  // With stdout and stderr apart, the provider's warnings about production do not show.
  const worker = new Worker(join(__dirname, file), { workerData: settings, stdout: true, stderr: true })
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  worker.on('message', ({ id, result, error }: { id: number; result: never; error?: string }) => {
    const { resolve, reject } = waiting.get(id)!
    waiting.delete(id)
    if (error === undefined) resolve(result)
    else reject(new Error(error))
  })
  worker.on('error', (error) => waiting.forEach(({ reject }) => reject(error)))
  let calls = 0
  const call = <Result>(name: string, argument?: unknown) =>
    new Promise<Result>((resolve, reject) => {
      const id = (calls += 1)
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, name, argument })
    })
  const end = async () => {
    await call('stop')
    await worker.terminate()
  }
  return { call, end }
}

/** oidc-provider, on a thread of its own. */
export async function startOidcServer(settings: RealServerSettings): Promise<OidcServer> {
  const { call, end } = startThread('oidc-provider.mjs', settings)
  const started = await call<Started>('start')
  return {
    ...started,
    async logIn() {
      return redeemed(started.tokenEndpoint, settings, await call<{ code: string; redirect_uri: string }>('logIn'))
    },
    changeSecret: (secret) => call('changeSecret', secret),
    revokeGrants: () => call('revokeGrants'),
    moveClock: (ms) => call('moveClock', ms),
    end,
  }
}

import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Certificate } from '../../service/certificate.ts'

export interface BoundServerSettings {
  readonly demandsNonce?: boolean
  /** Of the server. Without it the server uses plain http. */
  readonly tls?: Certificate
  /** Of the client `certificate-client`. */
  readonly clientCert?: string
}

export interface BoundServer {
  readonly origin: string
  readonly tokenEndpoint: string
  /** A user logs in. @returns What the application sends to the token endpoint. */
  logIn(): Promise<Record<string, string>>
  end(): Promise<void>
}

export async function startBoundServer(settings: BoundServerSettings = {}): Promise<BoundServer> {
  // With stdout and stderr apart, the provider's warnings about production do not show.
  const worker = new Worker(join(__dirname, '../../oauth2/support/bound-provider.mjs'), {
    workerData: settings,
    stdout: true,
    stderr: true,
  })
  const call = async <Result>(name: string): Promise<Result> => {
    worker.postMessage(name)
    const [{ result, error }] = (await once(worker, 'message')) as [{ result: Result; error?: string }]
    if (error !== undefined) throw new Error(error)
    return result
  }
  const origin = await call<string>('start')
  return {
    origin,
    tokenEndpoint: `${origin}/token`,
    logIn: () => call('logIn'),
    async end() {
      await call('stop')
      await worker.terminate()
    },
  }
}

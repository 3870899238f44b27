// Has the same exports as ../tokens.ts, but uses the worker. The worker's script is at the root, so that a service worker can control all pages.
import axios from 'axios'
import { attachBearer } from 'axios-evergreen'
import { connectTokens } from 'axios-evergreen/web'

const shared = 'SharedWorker' in window ? new SharedWorker('/worker.js', { type: 'module' }) : undefined
if (!shared) await navigator.serviceWorker.register('/worker.js', { type: 'module' })
const worker = shared ?? (await navigator.serviceWorker.ready).active!

export const tokens = await connectTokens(worker)
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)

/** @throws {Error} with a message for the user. */
export async function logIn(form: FormData): Promise<void> {
  const text = new URLSearchParams([...form] as [string, string][]).toString()
  const { port1, port2 } = new MessageChannel()
  const target = worker instanceof ServiceWorker ? worker : worker.port
  target.postMessage({ logIn: text }, [port2])
  const { data: wrong } = await new Promise<MessageEvent<string>>((resolve) => (port1.onmessage = resolve))
  if (wrong !== '') throw new Error(wrong)
}

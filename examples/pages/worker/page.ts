// Has what ../tokens.ts has, but asks the worker. Its script stands at the root: only there can a service worker serve all pages.
import axios from 'axios'
import { attachBearer, TokenError, type TokenErrorCode, type TokenEvents, type TokenManager } from 'axios-evergreen'

type LoginChange = MessageEvent<TokenEvents['loginChanged']>
type Answer = MessageEvent<{ value?: unknown; code?: TokenErrorCode; message?: string }>

const shared = 'SharedWorker' in window ? new SharedWorker('/worker.js', { type: 'module' }).port : undefined
if (!shared) await navigator.serviceWorker.register('/worker.js', { type: 'module' })

async function ask(question: string, given = ''): Promise<unknown> {
  const { port1, port2 } = new MessageChannel()
  ;(shared ?? (await navigator.serviceWorker.ready).active!).postMessage({ question, given }, [port2])
  const { data } = await new Promise<Answer>((resolve) => (port1.onmessage = resolve))
  if (data.message === undefined) return data.value
  if (data.code) void look()
  throw data.code ? new TokenError(data.code, data.message) : new Error(data.message)
}
const changes = new BroadcastChannel('login')
let login: LoginChange['data']['login'] | undefined
changes.addEventListener('message', ({ data }: LoginChange) => (login = data.login))
/** Keeps a service worker alive. If the browser has stopped it all the same, the login is lost. */
async function look() {
  const data = { login: await ask('login'), by: 'elsewhere', account: 'unknown' }
  if (data.login !== login) changes.dispatchEvent(new MessageEvent('message', { data }))
}
await look()
setInterval(look, 20_000)
export const tokens = {
  peekAccessToken: () => undefined,
  getAccessToken: () => ask('getAccessToken'),
  replaceAccessToken: (refused: string) => ask('replaceAccessToken', refused),
  logout: () => ask('logout'),
  status: () => ({ login }),
  on(_: 'loginChanged', listener: (event: LoginChange['data']) => void) {
    const heard = ({ data }: LoginChange) => listener(data)
    changes.addEventListener('message', heard)
    return () => changes.removeEventListener('message', heard)
  },
}
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens as unknown as TokenManager)
export const logIn = (form: FormData) => ask('logIn', String(new URLSearchParams([...form] as [string, string][])))

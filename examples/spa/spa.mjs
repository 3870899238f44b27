// A single-page application: Vite, axios, a login form, a rotating refresh token, several tabs, logout, and
// buttons that make trouble. npm run example spa [port] [seconds that a token lives]
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createServer as createVite } from 'vite'
import { answering } from './service.mjs'

const [port = 5173, lifetimeSeconds = 30] = process.argv.slice(2).map(Number)
// In a project of yours Vite finds these by itself.
const alias = ['axios-evergreen/oauth2', 'axios-evergreen/web/inspector', 'axios-evergreen/web', 'axios-evergreen'].map(
  (name) => ({ find: new RegExp(`^${name}$`), replacement: fileURLToPath(import.meta.resolve(name)) }),
)
const server = createServer()
const vite = await createVite({
  root: fileURLToPath(new URL('.', import.meta.url)),
  configFile: false,
  // No cache: the folder of an example may be read-only.
  cacheDir: fileURLToPath(new URL('../../node_modules/.cache/spa', import.meta.url)),
  resolve: { alias },
  server: { middlewareMode: true, hmr: { server }, fs: { strict: false } },
  logLevel: 'warn',
})
const answer = answering({ lifetimeSeconds })
server.on('request', (request, response) => {
  if (!answer(request, response)) vite.middlewares(request, response)
})
server.listen(port, '127.0.0.1', () => {
  console.log(`Log in as ada with the password lovelace, in several tabs: http://127.0.0.1:${server.address().port}/`)
})

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await vite.close()
    server.closeAllConnections()
    server.close()
  })

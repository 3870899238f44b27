import { spawn } from 'node:child_process'
import { createClient } from 'redis'

/** That at `REDIS_URL`, or one of our own until `stop`. Ends the process, and says what to do, where there is neither. */
export async function findRedis(tries = 5) {
  const { REDIS_URL } = process.env
  if (REDIS_URL) {
    const client = createClient({ url: REDIS_URL, socket: { reconnectStrategy: false } }).on('error', () => undefined)
    await client.connect().catch((error) => missing(`No Redis answers at REDIS_URL (${error.message}).`))
    client.destroy()
    return { url: REDIS_URL, stop: () => undefined }
  }
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const server = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', '--save', ''], { stdio: 'pipe' })
  server.on('error', () => missing('There is no redis-server on PATH.'))
  process.once('exit', () => server.kill())
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false }))
    if (String(chunk).includes('Ready to accept'))
      return { url: `redis://127.0.0.1:${port}`, stop: () => server.kill() }
  // The port may be in use.
  return tries > 1 ? findRedis(tries - 1) : missing('redis-server ended at once.')
}

function missing(what) {
  console.error(`${what} Install redis-server, or set REDIS_URL to a Redis that may be used.`)
  process.exit(1)
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A private Redis server on loopback. @throws when there is no redis-server on PATH. */
export async function startRedis() {
  const port = await freePort()
  const server = spawn(
    'redis-server',
    ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  await once(server, 'spawn').catch(() => {
    throw new Error('This needs redis-server on PATH: install it (Debian: apt-get install redis-server).')
  })
  process.once('exit', () => server.kill('SIGKILL'))
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false }))
    if (String(chunk).includes('Ready to accept connections')) break
  server.stdout.resume()
  if (server.exitCode !== null) throw new Error(`redis-server ended at once, with exit code ${server.exitCode}`)
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Answers nobody until `thaw`, and refuses nobody. */
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    async stop() {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    },
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

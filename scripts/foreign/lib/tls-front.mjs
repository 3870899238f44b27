import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { pipeline } from 'node:stream'
import { createServer } from 'node:tls'
import { transformSync } from 'esbuild'

/** TLS in front of a plain server on loopback, with a self-signed certificate for `localhost`. */
export async function startTlsFront(baseUrl) {
  const { selfSigned } = await certificates()
  const { key, cert } = selfSigned()
  const { hostname, port } = new URL(baseUrl)
  const sockets = new Set()
  const server = createServer({ key, cert }, (socket) => {
    sockets.add(socket)
    pipeline(socket, connect(port, hostname), socket, () => undefined)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `https://localhost:${server.address().port}`,
    cert,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The module of the tests that makes certificates is in TypeScript. */
function certificates() {
  const text = readFileSync(new URL('../../../test/service/certificate.ts', import.meta.url), 'utf8')
  const { code } = transformSync(text, { loader: 'ts' })
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}

import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { pipeline } from 'node:stream'

/** A forward proxy on loopback: absolute addresses and CONNECT. `asked` lists its requests. */
export async function startProxy() {
  const asked = []
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    const { method, headers } = incoming
    const onward = request(incoming.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers)
      pipeline(answer, outgoing, ignore)
    })
    pipeline(incoming, onward, (error) => error && outgoing.destroy())
  })
  const sockets = new Set()
  server.on('connect', ({ url, rawHeaders }, socket) => {
    asked.push(`CONNECT ${url} ${rawHeaders.join(' ')}`)
    const { hostname, port } = new URL(`http://${url}`)
    const onward = connect(port, hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      pipeline(socket, onward, socket, ignore)
    })
    sockets.add(socket)
    onward.on('error', () => socket.destroy())
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked,
    close() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

function ignore() {}

import { createServer } from 'node:http'

/** A server on loopback. */
export async function listening(handle) {
  const server = createServer(handle)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${server.address().port}`, stop }
}

/** Makes the clock of this thread movable. @returns What moves it, by ms. */
export function movableClock() {
  let aheadMs = 0
  const now = Date.now
  Date.now = () => now() + aheadMs
  return (ms) => void (aheadMs += ms)
}

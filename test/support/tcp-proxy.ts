import { type AddressInfo, createServer, connect, type Socket } from 'node:net'
import { stoppedWithFile } from './stopped.ts'

/** A proxy between a client and its server. It passes, holds, or loses the replies of the server. */
export async function startProxy(port: number) {
  const pairs = new Set<[Socket, Socket]>()
  const silent = new Set<[Socket, Socket]>()
  let replies: 'pass' | 'hold' | 'lose' = 'pass'
  let later: { mode: 'pass' | 'hold' | 'lose'; after: RegExp } | undefined
  let cutAt: { words: RegExp; lastWords: Buffer } | undefined
  const held: (() => void)[] = []
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    client.on('data', (chunk) => {
      if (silent.has(pair)) return
      if (cutAt?.words.test(String(chunk))) {
        client.end(cutAt.lastWords)
        cutAt = undefined
        return
      }
      if (later?.after.test(String(chunk))) replies = later.mode
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (silent.has(pair)) return
      if (replies === 'pass') client.write(chunk)
      else if (replies === 'hold') held.push(() => client.write(chunk))
    })
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.on('close', end).on('error', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return stoppedWithFile({
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** @param after The mode begins with the first request that matches; default: at once. */
    replies(mode: 'pass' | 'hold' | 'lose', after?: RegExp): void {
      later = after && { mode, after }
      if (!after) replies = mode
      if (mode === 'pass') for (const send of held.splice(0)) send()
    },
    /** From now on the open connections pass nothing, without notice, as when a host is gone. New ones work. */
    silence(): void {
      for (const pair of pairs) silent.add(pair)
    },
    /** Ends a connection at the first request that matches. @param lastWords The client gets them before. */
    cutAt(words: RegExp, lastWords = Buffer.alloc(0)): void {
      cutAt = { words, lastWords }
    },
    cut(): void {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
    },
    async stop(): Promise<void> {
      this.cut()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

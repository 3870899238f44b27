import { createServer } from 'node:http'
import { constants, createGzip } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { run, withChildren } from '../faults/support/child.ts'
import { listening } from '../service/world.ts'

withChildren()

const GIB = 1_073_741_824
const MIB = 1_048_576
const PIECE = Buffer.alloc(65_536, ' ')

/** A token service whose every response is a gibibyte. The service writes as fast as the client reads. */
async function endless(form: string) {
  let written = 0
  const server = createServer((request, reply) => {
    request.resume()
    if (form === 'of that length') reply.setHeader('Content-Length', GIB)
    if (form === 'in gzip') reply.setHeader('Content-Encoding', 'gzip')
    const body = form === 'in gzip' ? createGzip({ level: constants.Z_BEST_SPEED }) : reply
    if (body !== reply) body.pipe(reply)
    let left = GIB
    const more = () => {
      while (left > 0 && !reply.destroyed) {
        left -= PIECE.length
        written += PIECE.length
        if (!body.write(PIECE)) return
      }
      if (left <= 0) body.end()
    }
    body.on('drain', more)
    more()
  })
  return { origin: `http://${await listening(server)}`, written: () => written }
}

const ADAPTERS = ['http', 'fetch']

describe.each(ADAPTERS)('given a token service that responds with 1 GiB (P16, %s adapter)', (adapter) => {
  it.each(['of that length', 'in chunks', 'in gzip'])(
    'when it arrives %s, then the size limit ends it, for less than 4 MiB',
    async (form) => {
      const { origin, written } = await endless(form)
      const child = run(
        `
        const alive = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external }
        let bytes = 0
        let most = 0
        // Memory is measured at each piece, because nothing more is kept between two pieces.
        async function* weighed(pieces) {
          for await (const piece of pieces) {
            bytes += piece.byteLength
            most = Math.max(most, alive())
            yield piece
          }
        }
        const adapter = async (config) => {
          const answer = await axios.getAdapter(${JSON.stringify(adapter)}, config)(config)
          return { ...answer, data: weighed(answer.data) }
        }
        const credentials = { clientId: 'id', clientSecret: 'secret' }
        const source = clientCredentials({ baseUrl: ${JSON.stringify(origin)}, ...credentials, transport: { adapter } })
        const clock = { wallNow: () => Date.now(), monotonicNow: () => performance.now() }
        const obtain = () => source.obtain({ signal: new AbortController().signal, clock }).catch(({ message }) => message)
        await obtain() // the first call loads things that stay
        bytes = most = 0
        alive()
        await new Promise((resolve) => setTimeout(resolve, 0)) // another thread frees buffers
        const before = alive()
        say('ended ' + await obtain())
        say('memory ' + (most - before))
        say('bytes ' + bytes)
        `,
        ['--expose-gc'],
      )
      expect(Number(await child.said('memory '))).toBeLessThan(4 * MIB)
      expect(await child.said('ended ')).toMatch(/ is larger than 65536 bytes$/)
      // At most one piece more than the limit.
      expect(Number(await child.said('bytes '))).toBeLessThan(MIB)
      expect(written()).toBeLessThan(GIB) // both responses together
      expect([await child.ended, child.complaints]).toEqual([0, ''])
    },
  )
})

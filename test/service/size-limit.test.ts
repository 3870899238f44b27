import { createServer } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import {
  ADAPTERS,
  answering,
  failureOf,
  grantText,
  listening,
  named,
  obtain,
  serve,
  sourceAt,
  sourceBehind,
  until,
} from './world.ts'

const LIMIT = 65_536
const MEGABYTE = 1_048_576

/** A response of exactly this size. */
const ofSize = (bytes: number) => grantText().padEnd(bytes)

const tooLarge = (address: string) => ({
  code: 'ERR_TOKEN_RESPONSE',
  outcome: 'unknown',
  retryable: true,
  message: expect.stringMatching(new RegExp(`^The response from ${address} .* than 65536 bytes$`)),
})

const ENCODINGS: [string, (text: string) => Buffer][] = [
  ['identity', (text) => Buffer.from(text)],
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
]

describe.each(ADAPTERS)('given a response around the limit of 64 KiB, and the %s adapter (P16)', (adapter) => {
  describe.each(ENCODINGS)('and the encoding %s', (encoding, encoded) => {
    const issuing = (text: string, status = 200) =>
      serve((_, reply) => {
        if (encoding !== 'identity') reply.setHeader('Content-Encoding', encoding)
        reply.writeHead(status).end(encoded(text))
      })

    it.each([LIMIT - 1, LIMIT])('when it has %i bytes, then it is used', async (size) => {
      const { origin } = await issuing(ofSize(size))
      expect((await obtain(sourceAt(origin, { adapter }))).grant.accessToken).toBe('issued-token')
    })

    it.each([LIMIT + 1, 2 * LIMIT])('when it has %i bytes, then it is rejected', async (size) => {
      const { origin } = await issuing(ofSize(size))
      expect(await failureOf(obtain(sourceAt(origin, { adapter })))).toMatchObject({
        ...tooLarge(`${origin}/token/`),
        status: 200,
      })
    })
  })

  it('when bytes and characters differ, then bytes count', async () => {
    const text = (letters: number) => grantText().replace('{"data"', `{"note":"${'é'.repeat(letters)}","data"`)
    const fits = (LIMIT - Buffer.byteLength(text(0))) / 2
    const server = await serve((_, reply) => reply.end(text(Math.floor(fits) + server.seen.length - 1)))
    const source = sourceAt(server.origin, { adapter })
    expect((await obtain(source)).grant.accessToken).toBe('issued-token')
    expect(await failureOf(obtain(source))).toMatchObject(tooLarge(`${server.origin}/token/`))
  })

  it('when it never ends, then little of it is read and the connection is closed (F34)', async () => {
    const spaces = Buffer.alloc(LIMIT, ' ')
    let written = 0
    let closed = false
    const server = createServer((_, reply) => {
      const more = () => {
        while (!reply.destroyed && reply.write(spaces)) written += spaces.length
      }
      reply.on('drain', more).on('close', () => (closed = true))
      more()
    })
    const origin = `http://${await listening(server)}`
    expect(await failureOf(obtain(sourceAt(origin, { adapter })))).toMatchObject(tooLarge(`${origin}/token/`))
    await until(() => closed)
    // `written` includes what the buffers of both kernels hold.
    expect(written).toBeLessThan(16 * MEGABYTE)
  })

  it('when 50 MB of spaces arrive in 50 KB of gzip, then little is unpacked and little memory used (F34)', async () => {
    const bomb = Buffer.concat(Array<Buffer>(50).fill(gzipSync(Buffer.alloc(1_000_000, ' '))))
    const { origin } = await serve((_, reply) => reply.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb))
    const unpacked: number[] = []
    const source = sourceAt(origin, {
      adapter: async (config) => {
        const answer = await named(adapter, config)(config)
        return { ...answer, data: weighed(answer.data as AsyncIterable<Uint8Array>, unpacked) }
      },
    })
    await failureOf(obtain(source))
    const held = process.memoryUsage().arrayBuffers
    unpacked.length = 0
    expect(await failureOf(obtain(source))).toMatchObject(tooLarge(`${origin}/token/`))
    expect(process.memoryUsage().arrayBuffers - held).toBeLessThan(4 * MEGABYTE)
    expect(unpacked.reduce((sum, size) => sum + size, 0)).toBeLessThan(MEGABYTE)
  })
})

describe('given an adapter that returns a response it has already read', () => {
  const padded = (size: number) => Buffer.from(ofSize(size))

  it.each<[string, (size: number) => unknown]>([
    ['text', ofSize],
    ['a buffer', padded],
    ['a stream of strings', (size) => streamOf(ofSize(size).match(/[^]{1,4096}/g)!)],
    ['a stream of buffers', (size) => streamOf([padded(size).subarray(0, 100), padded(size).subarray(100)])],
    [
      'an object',
      (size) => ({ ...(JSON.parse(grantText()) as object), note: 'x'.repeat(size - grantText().length - 10) }),
    ],
  ])('when it returns %s, then the limit is the same', async (_, data) => {
    expect((await obtain(sourceBehind(answering(data(LIMIT))))).grant.accessToken).toBe('issued-token')
    const error = await failureOf(obtain(sourceBehind(answering(data(LIMIT + 1)))))
    expect(error).toMatchObject(tooLarge('https://tokens.example/api/token/'))
  })

  it.each([200, 400, 503])(
    'when a response of status %i is too large, then the error has the status',
    async (status) => {
      const error = await failureOf(obtain(sourceBehind(answering(ofSize(LIMIT + 1), status))))
      expect(error.status).toBe(status)
    },
  )
})

async function* weighed(chunks: AsyncIterable<Uint8Array>, sizes: number[]): AsyncGenerator {
  for await (const chunk of chunks) {
    sizes.push(chunk.byteLength)
    yield chunk
  }
}

async function* streamOf(parts: Iterable<unknown>): AsyncGenerator {
  yield* parts
}

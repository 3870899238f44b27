import { Agent, createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { again, FIN, read, RST, send, serveScripts } from '../support/scripted-server.ts'
import { selfSigned } from './certificate.ts'
import { ADAPTERS, failureOf, grantText, listening, named, obtain, serve, sourceAt, until, wire } from './world.ts'

const UNAVAILABLE = 'ERR_TOKEN_SERVICE_UNAVAILABLE'
const notSent = { code: UNAVAILABLE, outcome: 'not-sent', retryable: true }
const unknown = { code: UNAVAILABLE, outcome: 'unknown', retryable: true }

/** @returns A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer()
  const host = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return Number(host.split(':')[1])
}

describe.each(ADAPTERS)('given an unreachable service, and the %s adapter (F22)', (adapter) => {
  it.each(['127.0.0.1', 'localhost'])('when %s refuses the connection, then nothing was sent', async (host) => {
    const error = await failureOf(obtain(sourceAt(`http://${host}:${await closedPort()}/api`, { adapter })))
    expect(error).toMatchObject(notSent)
    expect(error.status).toBeUndefined()
    expect(error.message).toMatch(/^http:\/\/[\w.]+:\d+\/api\/token\/ could not be reached \(ECONNREFUSED\)$/)
  })

  it('when its name does not exist, then nothing was sent', async () => {
    // The resolver rejects such a long label without a query, so the test needs no network.
    const error = await failureOf(obtain(sourceAt(`https://${'a'.repeat(64)}.invalid`, { adapter })))
    expect(error).toMatchObject(notSent)
    expect(error.message).toMatch(/ could not be reached \((ENOTFOUND|EAI_AGAIN)\): unknown host: check /)
  })

  it('when its certificate is self-signed, then nothing was sent, and no later request can help (F195)', async () => {
    const paths: unknown[] = []
    const host = await listening(createTlsServer(selfSigned(), ({ url }) => paths.push(url)))
    const error = await failureOf(obtain(sourceAt(`https://${host}`, { adapter })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'not-sent', retryable: false })
    expect(error.message).toMatch(
      / could not be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\): .* with NODE_EXTRA_CA_CERTS, or to the agent of the token requests$/,
    )
    expect(paths).toEqual([])
  })
})

const OUT_OF_DATE = 'the certificate is not valid now: its owner must renew it, or the clock of this machine is wrong'

describe('given a certificate that the user trusts', () => {
  const trusting = async (certificate: ReturnType<typeof selfSigned>) => {
    const host = await listening(createTlsServer(certificate, (_, reply) => reply.end(grantText())))
    const httpsAgent = new Agent({ ca: certificate.cert })
    return sourceAt(`https://${host.replace('127.0.0.1', 'localhost')}`, { httpsAgent })
  }

  it('when it is valid, then the token arrives', async () => {
    expect((await obtain(await trusting(selfSigned()))).grant.accessToken).toBe('issued-token')
  })

  it.each([
    [
      'is for another host',
      selfSigned('tokens.example'),
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'the certificate is for another host: check the address',
    ],
    ['has expired', selfSigned('localhost', [-3, -2]), 'CERT_HAS_EXPIRED', OUT_OF_DATE],
    ['is not valid yet', selfSigned('localhost', [2, 3]), 'CERT_NOT_YET_VALID', OUT_OF_DATE],
  ])(
    'when it %s, then nothing was sent, and the message states what to check (F22, F195)',
    async (_, certificate, code, advice) => {
      const error = await failureOf(obtain(await trusting(certificate)))
      expect(error).toMatchObject(notSent)
      expect(error.message).toMatch(new RegExp(` could not be reached \\(${code}\\): ${advice}$`))
    },
  )
})

describe.each(ADAPTERS)('given a connection that breaks, and the %s adapter', (adapter) => {
  const whole = grantText()
  const half = whole.slice(0, whole.length / 2)
  const head = (status: number) => `HTTP/1.1 ${status} Whatever\r\n`
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n'

  it('when it is reset after the request was read (F23), then nothing is known', async () => {
    const { origin, requests } = await serveScripts([[...read, RST]])
    const error = await failureOf(obtain(sourceAt(origin, { adapter })))
    expect(error).toMatchObject(unknown)
    expect(error.message).toMatch(/\/token\/ did not respond \(\w+\)$/)
    expect(requests).toHaveLength(1)
  })

  it('when it is closed without a response (F25), then nothing is known', async () => {
    const { origin, requests } = await serveScripts([[...read, FIN]])
    expect(await failureOf(obtain(sourceAt(origin, { adapter })))).toMatchObject(unknown)
    expect(requests).toHaveLength(1)
  })

  it('when it is closed within the status line, then nothing is known', async () => {
    const { origin } = await serveScripts([[...read, send('HTTP/1.1 20'), FIN]])
    expect(await failureOf(obtain(sourceAt(origin, { adapter })))).toMatchObject(unknown)
  })

  it('when the peer does not speak HTTP, then nothing is known', async () => {
    const { origin } = await serveScripts([[...read, send('SSH-2.0-OpenSSH_9.2\r\n'), FIN]])
    expect(await failureOf(obtain(sourceAt(origin, { adapter })))).toMatchObject(unknown)
  })

  describe.each([200, 400, 401, 429, 503])('and breaks within a response of status %i (F26)', (status) => {
    it.each([
      ['half a body with its length', `${head(status)}Content-Length: 1000\r\n\r\n${half}`],
      ['a whole document, shorter than its length', `${head(status)}Content-Length: 1000\r\n\r\n${whole}`],
      ['half a chunk', `${head(status)}${chunked}fff\r\n${half}`],
      ['one chunk of several', `${head(status)}${chunked}${chunk(half)}`],
      ['a whole document, chunked, without its end', `${head(status)}${chunked}${chunk(whole)}`],
    ])('when %s arrived, then nothing is known', async (_, text) => {
      const { origin } = await serveScripts([[...read, send(text), FIN]])
      const error = await failureOf(obtain(sourceAt(origin, { adapter })))
      expect(error).toMatchObject(unknown)
      expect(error.message).toMatch(/\/token\/ broke off its response \(\w+\)$/)
    })
  })

  it('when it is reset within the body, then nothing is known', async () => {
    const { origin } = await serveScripts([[...read, send(`${head(200)}Content-Length: 1000\r\n\r\n${half}`), RST]])
    expect(await failureOf(obtain(sourceAt(origin, { adapter })))).toMatchObject(unknown)
  })

  it('when a body without a length ends early, then the response is rejected', async () => {
    const { origin } = await serveScripts([[...read, send(`${head(200)}Connection: close\r\n\r\n${half}`), FIN]])
    const error = await failureOf(obtain(sourceAt(origin, { adapter })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' })
  })

  it('when a body without a length ends in the right place, then it is used', async () => {
    const { origin } = await serveScripts([[...read, send(`${head(200)}Connection: close\r\n\r\n${whole}`), FIN]])
    expect((await obtain(sourceAt(origin, { adapter }))).grant.accessToken).toBe('issued-token')
  })

  it('when a body arrives byte by byte and in chunks, then it is used', async () => {
    const { origin } = await serve((_, reply) => {
      for (const letter of whole) reply.write(letter)
      reply.end()
    })
    expect((await obtain(sourceAt(origin, { adapter }))).grant.accessToken).toBe('issued-token')
  })

  it('when it was kept alive and breaks on reuse (F30), then the request is not sent twice', async () => {
    const { origin, requests } = await serveScripts([
      [...read, send(wire(200, whole, { Connection: 'keep-alive' })), ...read, RST],
      [...read, RST],
    ])
    const source = sourceAt(origin, { adapter })
    await obtain(source)
    expect(await failureOf(obtain(source))).toMatchObject(unknown)
    expect(requests).toHaveLength(2)
  })

  it('when a second response follows the first on one connection (F31), then it does not answer another request', async () => {
    const answering = again(...read, send(wire(200, whole)))
    const smuggled = wire(200, grantText({ access: '"smuggled"' }))
    const { origin, requests } = await serveScripts([
      [...read, send(Buffer.concat([wire(200, whole), smuggled])), answering],
      [answering],
    ])
    const source = sourceAt(origin, { adapter })
    await obtain(source).catch(() => undefined)
    expect((await obtain(source)).grant.accessToken).toBe('issued-token')
    expect(requests).toHaveLength(2)
  })

  // Node delivers a response as soon as it has the announced length, before it reads the rest. So this response counts.
  it('when a body is longer than its length (F32), then that length is read and the connection is dropped', async () => {
    const tooLong = wire(200, `${whole}0123456789`, { 'Content-Length': whole.length })
    const { origin, requests, connections } = await serveScripts([[...read, send(tooLong)]])
    expect((await obtain(sourceAt(origin, { adapter }))).grant.accessToken).toBe('issued-token')
    await until(() => connections[0]!.isClosed)
    expect(requests).toHaveLength(1)
  })
})

describe.each(ADAPTERS)('given a response without a document, and the %s adapter', (adapter) => {
  it.each([
    ['204', wire(204, '')],
    ['205', wire(205, '')],
    ['200 without a body', wire(200, '')],
    ['200 with HTML (F37)', wire(200, '<!doctype html><title>Sign in</title>', { 'Content-Type': 'text/html' })],
  ])('when it is a %s, then it is rejected', async (_, bytes) => {
    const { origin } = await serveScripts([[...read, send(bytes)]])
    const error = await failureOf(obtain(sourceAt(origin, { adapter })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', retryable: true })
    expect(error.message).toMatch(/cannot be used: it is not JSON; check baseUrl$/)
  })

  it.each([502, 503, 504])(
    'when a gateway responds %i with a page (F36), then its Retry-After is kept',
    async (status) => {
      const page = '<html><body><h1>Bad gateway</h1></body></html>'
      const { origin } = await serveScripts([[...read, send(wire(status, page, { 'Retry-After': 3 }))]])
      const error = await failureOf(obtain(sourceAt(origin, { adapter })))
      expect(error).toMatchObject({ code: UNAVAILABLE, outcome: 'unknown-5xx', status, retryAfterMs: 3_000 })
      expect(error.message).not.toContain('gateway')
    },
  )

  it('when early hints arrive first (F33), then the response after them counts', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n'
    const { origin } = await serveScripts([[...read, send(hints + wire(200, grantText()).toString())]])
    expect((await obtain(sourceAt(origin, { adapter }))).grant.accessToken).toBe('issued-token')
  })

  it('when another header names Retry-After, then Retry-After is used', async () => {
    const headers = { 'Access-Control-Expose-Headers': 'Retry-After', 'Retry-After': 5 }
    const { origin } = await serveScripts([[...read, send(wire(429, '', headers))]])
    expect((await failureOf(obtain(sourceAt(origin, { adapter })))).retryAfterMs).toBe(5_000)
  })

  it('when there are several Retry-After headers (F47), then all are ignored', async () => {
    const text = 'HTTP/1.1 429 Whatever\r\nRetry-After: 5\r\nRetry-After: 6\r\nContent-Length: 0\r\n\r\n'
    const { origin } = await serveScripts([[...read, send(text)]])
    const error = await failureOf(obtain(sourceAt(origin, { adapter })))
    expect(error).toMatchObject({ code: 'ERR_THROTTLED', outcome: 'deferred' })
    expect(error.retryAfterMs).toBeUndefined()
  })
})

describe('given 100 Continue before the response (F33)', () => {
  it('when the http adapter reads it, then the response after it counts', async () => {
    const { origin } = await serveScripts([
      [...read, send(`HTTP/1.1 100 Continue\r\n\r\n${wire(200, grantText()).toString()}`)],
    ])
    expect((await obtain(sourceAt(origin))).grant.accessToken).toBe('issued-token')
  })
})

describe.each(ADAPTERS)('given an encoded response, and the %s adapter', (adapter) => {
  const encoded = async (encoding: string, body: Buffer, status = 200) => {
    const { origin } = await serveScripts([[...read, send(wire(status, body, { 'Content-Encoding': encoding }))]])
    return sourceAt(origin, { adapter })
  }
  const whole = Buffer.from(grantText())

  it.each([
    ['gzip', gzipSync(whole)],
    ['GZIP', gzipSync(whole)],
    ['deflate', deflateSync(whole)],
    ['br', brotliCompressSync(whole)],
    ['identity', whole],
  ])('when its encoding is %s, then it is read', async (encoding, body) => {
    expect((await obtain(await encoded(encoding, body))).grant.accessToken).toBe('issued-token')
  })

  it.each([
    ['bytes that are not text', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xff, 0x00])],
    ['what looks like a document', whole],
  ])('when its encoding is unknown and it has %s (F35), then it is rejected', async (_, body) => {
    const error = await failureOf(obtain(await encoded('evergreen', body)))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' })
    expect(error.message).toMatch(/ is of an unknown Content-Encoding$/)
  })

  it.each([
    ['no gzip at all', whole],
    ['half of it', gzipSync(whole).subarray(0, 40)],
    ['altered bytes', Buffer.from(gzipSync(whole)).fill(0, 12, 40)],
  ])('when gzip is announced and it has %s, then it is unusable', async (_, body) => {
    expect(await failureOf(obtain(await encoded('gzip', body)))).toMatchObject({ outcome: 'unknown', retryable: true })
  })

  it('when an error response is encoded, then its error code is read', async () => {
    const source = await encoded('gzip', gzipSync('{"errors":[{"code":"2006"}]}'), 400)
    expect(await failureOf(obtain(source))).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', serviceCode: '2006' })
  })
})

describe.each(ADAPTERS)('given the deadline of an exchange, and the %s adapter', (adapter) => {
  it('when it passed before the request, then nothing was sent', async () => {
    const { origin, connections } = await serve((_, reply) => reply.end(grantText()))
    const error = await failureOf(obtain(sourceAt(origin, { adapter }), AbortSignal.abort()))
    expect(connections()).toBe(0)
    expect(error).toMatchObject(notSent)
    expect(error.message).toMatch(/^The deadline passed before the request was sent: .*\/token\/$/)
  })

  it('when it passes before the first byte (F28), then the request ends and the connection is closed', async () => {
    const controller = new AbortController()
    const server = await serveScripts([[...read, () => controller.abort(new Error('the deadline'))]])
    const error = await failureOf(obtain(sourceAt(server.origin, { adapter }), controller.signal))
    expect(error).toMatchObject(unknown)
    expect(error.message).toMatch(/\/token\/ did not respond \(/)
    await until(() => server.connections[0]!.isClosed)
  })

  it.each([200, 400, 503])(
    'when it passes while the body of a %i arrives slowly (F27), then the request ends and the connection is closed',
    async (status) => {
      const controller = new AbortController()
      const server = await serveScripts([
        [...read, send(`HTTP/1.1 ${status} Whatever\r\nContent-Length: 1000\r\n\r\n{"`)],
      ])
      const source = sourceAt(server.origin, {
        adapter: async (config) => {
          const response = await named(adapter, config)(config)
          setImmediate(() => controller.abort())
          return response
        },
      })
      const error = await failureOf(obtain(source, controller.signal))
      expect(error).toMatchObject(unknown)
      expect(error.message).toMatch(/\/token\/ broke off its response \(/)
      await until(() => server.connections[0]!.isClosed)
    },
  )

  it('when it passes after the response, then the token is kept', async () => {
    const controller = new AbortController()
    const { origin } = await serve((_, reply) => reply.end(grantText()))
    const { grant } = await obtain(sourceAt(origin, { adapter }), controller.signal)
    controller.abort()
    expect(grant.accessToken).toBe('issued-token')
  })
})

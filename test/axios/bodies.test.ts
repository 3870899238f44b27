import { Readable } from 'node:stream'
import { describe, expect, it, jest } from '@jest/globals'
import axios, { type AxiosError } from 'axios'
import FormDataPackage from 'form-data'
import { attachBearer } from '../../src/index.ts'
import { type ApiServer, type Received, rejection, rejecting, startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf, until } from './support/turns.ts'

const text = 'größe "quoted" 💶\r\n'
const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)

/** Parses a multipart body as a server does, with the boundary from the header. */
async function formOf({ headers, body }: Received): Promise<[string, unknown][]> {
  const response = new Response(body as Uint8Array<ArrayBuffer>, {
    headers: { 'Content-Type': headers['content-type'] ?? '' },
  })
  const entries: [string, unknown][] = []
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- its cost does not matter in a test
  for (const [name, value] of await response.formData()) {
    if (typeof value === 'string') entries.push([name, value])
    else entries.push([name, { name: value.name, type: value.type, text: await value.text() }])
  }
  return entries
}

/** Whether the Content-Length of every request matched its body. */
function lengthsHold({ received }: ApiServer): boolean {
  return received.every(({ headers, body }) => Number(headers['content-length'] ?? body.length) === body.length)
}

function form(): FormData {
  const data = new FormData()
  data.append('field', text)
  data.append('file', new Blob(['file content'], { type: 'text/plain' }), 'file.txt')
  return data
}

describe.each(['http', 'fetch'] as const)('given a token that is rejected once (%s adapter)', (adapter) => {
  async function world() {
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    return { server, api }
  }

  it.each<[string, () => unknown, string, Buffer]>([
    ['a string', () => text, 'application/x-www-form-urlencoded', Buffer.from(text)],
    ['a JSON object', () => ({ a: [1, text] }), 'application/json', Buffer.from(JSON.stringify({ a: [1, text] }))],
    ['an array', () => [1, null, text], 'application/json', Buffer.from(JSON.stringify([1, null, text]))],
    ['a Buffer', () => Buffer.from(bytes), 'application/x-www-form-urlencoded', Buffer.from(bytes)],
    ['an ArrayBuffer', () => bytes.buffer.slice(0), 'application/x-www-form-urlencoded', Buffer.from(bytes)],
    ['a Uint8Array', () => bytes.slice(), 'application/x-www-form-urlencoded', Buffer.from(bytes)],
    [
      'URLSearchParams',
      () => new URLSearchParams({ q: 'ü&' }),
      'application/x-www-form-urlencoded',
      Buffer.from('q=%C3%BC%26'),
    ],
    [
      'a File',
      () => new File([text], 'a.txt', { type: 'text/plain' }),
      adapter === 'http' ? 'text/plain' : 'application/x-www-form-urlencoded', // as axios chooses it
      Buffer.from(text),
    ],
    ['an empty string', () => '', 'application/x-www-form-urlencoded', Buffer.alloc(0)],
  ])('when the body is %s, then the same bytes are sent again', async (_, data, type, expected) => {
    const { server, api } = await world()
    expect((await api.post('/upload', data())).status).toBe(200)
    expect(server.received).toHaveLength(2)
    for (const { headers, body } of server.received) {
      expect(body.equals(expected)).toBe(true)
      expect(headers['content-type']).toContain(type)
    }
    expect(server.received[1]!.headers).toMatchObject({
      ...server.received[0]!.headers,
      authorization: 'Bearer token-2',
    })
    expect(lengthsHold(server)).toBe(true)
  })

  it.each(['get', 'head', 'delete', 'options'] as const)(
    'when a %s request has no body, then it is sent again',
    async (method) => {
      const { server, api } = await world()
      await api.request({ method, url: '/' })
      expect(server.received.map((request) => [request.method, request.body.length])).toEqual(
        Array(2).fill([method.toUpperCase(), 0]),
      )
    },
  )

  it('when the body has megabytes, then all of it is sent again', async () => {
    const { server, api } = await world()
    const large = Buffer.alloc(5 * 1024 * 1024, 'abcdefg')
    await api.post('/upload', large)
    expect(server.received.map(({ body }) => body.equals(large))).toEqual([true, true])
  })

  // Without a content type, axios' fetch adapter in Node declares native FormData as urlencoded, even without this package.
  it.each(adapter === 'fetch' ? ['multipart/form-data'] : ['multipart/form-data', undefined])(
    'when the body is native FormData (content type %s), then both requests can be parsed and have the same fields',
    async (type) => {
      const { server, api } = await world()
      expect(
        (await api.post('/upload', form(), type === undefined ? {} : { headers: { 'Content-Type': type } })).status,
      ).toBe(200)
      expect(server.received).toHaveLength(2)
      for (const request of server.received)
        expect(await formOf(request)).toEqual([
          ['field', text],
          ['file', { name: 'file.txt', type: 'text/plain', text: 'file content' }],
        ])
      expect(lengthsHold(server)).toBe(true)
    },
  )

  it('when the body is a Blob, then the same bytes are sent again with its type', async () => {
    const { server, api } = await world()
    const blob = new Blob([bytes], { type: 'application/x-own' })
    expect((await api.post('/upload', blob)).status).toBe(200)
    expect(server.received.map(({ body }) => body.equals(Buffer.from(bytes)))).toEqual([true, true])
    expect(lengthsHold(server)).toBe(true)
  })

  it('when upload progress is observed, then the same bytes are sent again', async () => {
    const { server, api } = await world()
    const onUploadProgress = jest.fn()
    expect((await api.post('/upload', text, { onUploadProgress })).status).toBe(200)
    expect(server.received.map(({ body }) => body.toString())).toEqual([text, text])
    expect(onUploadProgress).toHaveBeenCalled()
  })
})

describe.each(['http', 'fetch'] as const)('given a body that can be read only once (%s adapter)', (adapter) => {
  const oneShots: [string, () => unknown][] = [
    ['a Readable', () => Readable.from([Buffer.from('one'), Buffer.from('two')])],
    ['an empty Readable', () => Readable.from([])],
  ]
  if (adapter === 'fetch') oneShots.push(['a ReadableStream', () => new Response('onetwo').body])
  else
    oneShots.push([
      'the form-data package',
      () => {
        const data = new FormDataPackage()
        data.append('field', 'onetwo')
        return data
      },
    ])

  it.each(oneShots)(
    'when the body is %s, then it is sent once, and the 401 surfaces (F111, P8)',
    async (name, data) => {
      const server = await startApi(() => rejection)
      const { tokens, minted } = startTokens()
      const api = axios.create({ adapter, baseURL: server.baseUrl })
      attachBearer(api, tokens)
      const error = await failureOf<AxiosError>(api.post('/upload', data()))
      expect(error).toMatchObject({ name: 'AxiosError', status: 401 })
      expect(error.response?.data).toEqual({ error: 'refused' })
      expect(server.bearers).toEqual(['Bearer token-1'])
      expect(server.received[0]!.body.toString()).toContain(name.startsWith('an empty') ? '' : 'onetwo')
      // The manager renews in the background, so the next request has a new token.
      await until(() => tokens.peekAccessToken() === 'token-2')
      expect([minted.calls, server.received.length]).toEqual([2, 1])
    },
  )

  it('when validateStatus accepts the 401, then the 401 is the response', async () => {
    const server = await startApi(() => rejection)
    const api = axios.create({ adapter, baseURL: server.baseUrl, validateStatus: () => true })
    attachBearer(api, startTokens().tokens)
    expect((await api.post('/upload', Readable.from([Buffer.from('one')]))).status).toBe(401)
    expect(server.received).toHaveLength(1)
  })

  it('when the token is accepted, then the body arrives whole', async () => {
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    await api.post('/upload', Readable.from([Buffer.from('one'), Buffer.from('two')]))
    expect(server.received.map(({ body }) => body.toString())).toEqual(['onetwo'])
  })
})

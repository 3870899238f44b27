import { afterEach, describe, expect, it } from '@jest/globals'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { observeEndpoint } from '../../src/mcp/announced-endpoint.ts'
import { checkedProvider } from '../../src/mcp/auth-provider.ts'
import { Discovery } from '../../src/mcp/discovery.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { contextIn, contextText } from '../../src/oauth2/login-context.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A server with these documents. A string is sent unchanged, a number is a status, a URL a redirect. */
async function serverWith(documentsAt: (origin: string) => Readonly<Record<string, unknown>>) {
  const asked: string[] = []
  const wanted = new Set<string | undefined>()
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(url)
    wanted.add(headers.accept)
    const found = documentsAt(origin)[url]
    if (found === undefined) response.writeHead(404).end('none')
    else if (typeof found === 'number') response.writeHead(found).end()
    else if (found instanceof URL) response.writeHead(302, { location: found.href }).end()
    else response.writeHead(200).end(typeof found === 'string' ? found : JSON.stringify(found))
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, asked, wanted }
}

const provider = (members: object = {}, client: object | undefined = { client_id: 'one' }) =>
  checkedProvider({
    clientInformation: () => client,
    ...{ clientMetadata: {}, saveCodeVerifier() {}, codeVerifier() {}, redirectToAuthorization() {} },
    ...members,
  })

const LOG_IN = 'log in'
const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'
const OPENID = '/.well-known/openid-configuration'

async function found(origin: string, given: ReturnType<typeof provider> = provider(), issuer?: string) {
  const discovery = new Discovery(given, new URL('/mcp', origin), fetch)
  const exchange = { clock: manualClock(), signal: new AbortController().signal }
  return discovery.contextOf({ issuer, metadataUrl: undefined, about: undefined }, exchange)
}

describe('given a login whose provider stores no discovery', () => {
  it('when the server names no authorization server, then it is its own, at the default addresses of the SDK', async () => {
    const { origin, asked, wanted } = await serverWith(() => ({}))
    expect(await found(origin)).toEqual({
      tokenEndpoint: `${origin}/token`,
      revocationEndpoint: undefined,
      issuer: origin,
      clientId: 'one',
      clientSecret: undefined,
      clientAuthentication: 'none',
      resource: undefined,
    })
    expect(asked.slice(0, 2)).toEqual([`${RESOURCE}/mcp`, RESOURCE])
    expect([...wanted]).toEqual(['application/json'])
  })

  it('when the metadata are at the second address, or unusable at the first, then the second one counts', async () => {
    const { origin } = await serverWith((issuer) => ({
      [`${RESOURCE}/mcp`]: 'no JSON',
      [RESOURCE]: { resource: `${issuer}/mcp`, authorization_servers: [issuer] },
      [SERVER]: 'null',
      [OPENID]: { issuer: `${issuer}/`, token_endpoint: `${issuer}/t`, revocation_endpoint: `${issuer}/r` },
    }))
    expect(await found(origin)).toMatchObject({
      tokenEndpoint: `${origin}/t`,
      revocationEndpoint: `${origin}/r`,
      resource: `${origin}/mcp`,
    })
  })

  it('when the server names an authorization server, then that one is used', async () => {
    const named = await serverWith((issuer) => ({ [SERVER]: { issuer, token_endpoint: `${issuer}/t` } }))
    const { origin } = await serverWith(() => ({ [RESOURCE]: { authorization_servers: [named.origin] } }))
    expect(await found(origin)).toMatchObject({ tokenEndpoint: `${named.origin}/t`, issuer: named.origin })
  })

  it('when the metadata name another issuer, then they are not used', async () => {
    const { origin } = await serverWith(() => ({ [SERVER]: { issuer: 'https://evil.example', token_endpoint: 'x' } }))
    await expect(found(origin)).rejects.toMatchObject({ code: 'ERR_TOKEN_REQUEST' })
  })

  it('when a document is redirected to another origin, then it is ignored', async () => {
    const other = await serverWith((issuer) => ({ '/': { issuer, token_endpoint: `${issuer}/stolen` } }))
    const { origin } = await serverWith(() => ({ [SERVER]: new URL(other.origin) }))
    expect(await found(origin)).toMatchObject({ tokenEndpoint: `${origin}/token` })
  })

  it.each([
    ['the server fails', async () => (await serverWith(() => ({ [`${RESOURCE}/mcp`]: 500 }))).origin],
    ['the server is busy', async () => (await serverWith(() => ({ [RESOURCE]: 429 }))).origin],
    ['the document is not JSON', async () => (await serverWith(() => ({ [SERVER]: '<html>' }))).origin],
    ['the document is endless', async () => (await serverWith(() => ({ [SERVER]: ' '.repeat(70_000) }))).origin],
    ['the server is not listening', () => Promise.resolve('http://127.0.0.1:9')],
  ])('when %s, then no address is guessed, and the client is known (F390)', async (_, originOf) => {
    expect(await found(await originOf())).toEqual({
      clientId: 'one',
      clientSecret: undefined,
      authMethod: undefined,
      issuer: undefined,
      metadataUrl: undefined,
    })
  })
})

describe('given a provider that stores the discovery of the SDK', () => {
  const kept = (authorizationServerMetadata: object) => ({
    discoveryState: () => ({ authorizationServerUrl: 'https://as.example', authorizationServerMetadata }),
  })

  it('when the tokens are from that issuer, then nothing is requested, and the chosen resource is used', async () => {
    const members = { ...kept({ issuer: 'https://as.example/' }), validateResourceURL: () => new URL('https://api/x') }
    expect(await found('http://127.0.0.1:9', provider(members), 'https://as.example')).toMatchObject({
      tokenEndpoint: 'https://as.example/token',
      issuer: 'https://as.example/',
      resource: 'https://api/x',
    })
  })

  it.each<[object, string[], string]>([
    [{ client_secret: 's' }, [], 'basic'],
    [{ client_secret: 's', token_endpoint_auth_method: 'client_secret_post' }, [], 'post'],
    [{ client_secret: 's' }, ['client_secret_post', 'private_key_jwt'], 'post'],
    [{ client_secret: 's' }, ['private_key_jwt'], 'post'],
    [{}, ['private_key_jwt'], 'none'],
  ])(
    'when the client is %j and the server supports %j, then the client authenticates by %s',
    async (more, listed, by) => {
      const metadata = { issuer: 'https://as.example', token_endpoint_auth_methods_supported: listed }
      const client = { client_id: 'one', ...more }
      const context = await found('http://127.0.0.1:9', provider(kept(metadata), client))
      expect([context.clientAuthentication, context.clientSecret]).toEqual([by, by === 'none' ? undefined : 's'])
    },
  )

  it('when there is no client, then the error names the member of the provider', async () => {
    await expect(found('http://127.0.0.1:9', provider(kept({}), {}))).rejects.toThrow(/provider\.clientInformation/)
  })
})

describe('given the text of a context', () => {
  it('when it is absent, broken or of a newer release, then the error says what to do; a valid text is read', () => {
    const context = { tokenEndpoint: 't', issuer: 'i', clientId: 'c', clientAuthentication: 'none' as const }
    expect(contextIn(contextText(context), LOG_IN)).toMatchObject(context)
    for (const text of [undefined, '{', '{}'])
      expect(() => contextIn(text, LOG_IN)).toThrow(
        /lacks the server or the client that it must be refreshed with: log in/,
      )
    const newer = { code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', refreshToken: 'kept' }
    expect(() => contextIn('{"release":2}', LOG_IN)).toThrow(expect.objectContaining(newer))
    expect(() => contextIn('{"release":2}', LOG_IN)).toThrow(/update this process/)
  })
})

describe('given an event stream', () => {
  const heardOf = async (chunks: string[], type = 'text/event-stream') => {
    const heard: string[] = []
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        controller.close()
      },
    })
    const answer = observeEndpoint(new Response(body, { headers: { 'content-type': type } }), (address) =>
      heard.push(address),
    )
    return [heard, (await answer.text()) === chunks.join('')]
  }

  it.each<[string, string[], string | undefined, string[]]>([
    ['it announces an address', ['event: endpoint\ndata: /messages\n\n'], undefined, ['/messages']],
    ['the announcement arrives in pieces', ['event: endp', 'oint\ndata: /m', '\n\n'], undefined, ['/m']],
    [
      'it is announced before its event has ended',
      ['event: endpoint\ndata: /m\n', '\ndata: two\n\n'],
      undefined,
      ['/m'],
    ],
    ['another event comes first', ['data: one\n\n', 'event: endpoint\ndata: /late\n\n'], undefined, []],
    ['nothing arrives for too long', ['x'.repeat(9_000), 'event: endpoint\ndata: /late\n\n'], undefined, []],
    ['it is not an event stream', ['event: endpoint\ndata: /m\n\n'], 'text/plain', []],
  ])('when %s, then all of it is passed on, and an announcement is noticed', async (_, chunks, type, heard) => {
    expect(await heardOf(chunks, type)).toEqual([heard, true])
  })
})

// Servers still use the HTTP+SSE transport, which is deprecated.
/* eslint-disable @typescript-eslint/no-deprecated */
import {
  Client as ClientOf2,
  StreamableHTTPClientTransport as TransportOf2,
  SSEClientTransport as SseOf2,
} from '@modelcontextprotocol/client'
import { Client as ClientOf1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseOf1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as TransportOf1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { McpLogin } from '../../src/mcp/index.ts'

const INFO = { name: 'agent', version: '1.0.0' }

/** One client of a server, as a program uses it. */
export interface Agent {
  connect(): Promise<void>
  /** @param issuer The server's own name in its response (RFC 9207). */
  finishAuth(code: string, issuer?: string): Promise<void>
  /** Calls a tool. @returns its text */
  call(name: string): Promise<string>
  /** The messages of the server in its event stream. */
  readonly heard: string[]
  close(): Promise<void>
}
export type AgentOf = (url: URL, login: Pick<McpLogin, 'transport'>) => Agent

interface AnyTransport {
  finishAuth(code: string, issuer?: string): Promise<void>
}
interface AnyClient<Transport> {
  fallbackNotificationHandler?: (said: { params?: { data?: unknown } }) => Promise<void>
  connect(transport: Transport): Promise<void>
  callTool(asked: { name: string }): Promise<unknown>
  close(): Promise<void>
}

function agentOf<Transport extends AnyTransport>(
  clientOf: () => AnyClient<Transport>,
  transportOf: (url: URL, options: McpLogin['transport']) => Transport,
): AgentOf {
  return (url, { transport: options }) => {
    let transport = transportOf(url, options)
    let client = clientOf()
    const heard: string[] = []
    return {
      heard,
      async connect() {
        // A transport cannot be started twice, and the stream of an old one would be requested repeatedly.
        await client.close()
        transport = transportOf(url, options)
        client = clientOf()
        client.fallbackNotificationHandler = async ({ params }) => void heard.push(String(params?.data))
        await client.connect(transport)
      },
      finishAuth: (code, issuer) => transport.finishAuth(code, issuer),
      async call(name) {
        const { content } = (await client.callTool({ name })) as { content: { text: string }[] }
        return content[0]!.text
      },
      close: () => client.close(),
    }
  }
}

export const AGENTS: readonly (readonly [name: string, agent: AgentOf, path: string])[] = [
  [
    'SDK 1, Streamable HTTP',
    agentOf(
      () => new ClientOf1(INFO) as never,
      (url, options) => new TransportOf1(url, options),
    ),
    '/mcp',
  ],
  [
    'client 2, Streamable HTTP',
    agentOf(
      () => new ClientOf2(INFO) as never,
      (url, options) => new TransportOf2(url, options),
    ),
    '/mcp',
  ],
  [
    'SDK 1, SSE',
    agentOf(
      () => new ClientOf1(INFO) as never,
      (url, options) => new SseOf1(url, options),
    ),
    '/sse',
  ],
  [
    'client 2, SSE',
    agentOf(
      () => new ClientOf2(INFO) as never,
      (url, options) => new SseOf2(url, options),
    ),
    '/sse',
  ],
]

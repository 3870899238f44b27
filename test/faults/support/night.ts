import type { ServerResponse } from 'node:http'
import { expect } from '@jest/globals'
import axios from 'axios'
import { attachBearer, createTokenManager, logEvents, type TokenManagerOptions } from '../../../src/index.ts'
import type { LoginManager } from '../../../src/login/index.ts'
import { oauth2, type OAuth2Options } from '../../../src/oauth2/index.ts'
import { manualClock } from '../../../tools/testing/manual-clock.ts'
import { serve } from '../../service/world.ts'
import { outcome } from '../../support/managed.ts'
import { settle } from '../../support/watched-clock.ts'

/** What the on-call engineer has: the lines of `logEvents`, each with its level, and nothing else. */
export type Lines = readonly string[]

/** One incident. `run` provokes it with real parts, and returns the lines. */
export interface Night {
  readonly night: string
  readonly run: () => Promise<Lines>
  /** What has happened. One line says so. */
  readonly cause: RegExp
  /** What to do. One line says so. Undefined: nothing needs to be done, and no line is a warning. */
  readonly cure: RegExp | undefined
}

/** Expects that the lines alone name the cause and the cure. */
export function expectNamed(lines: Lines, { cause, cure }: Pick<Night, 'cause' | 'cure'>): void {
  expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(cause)]))
  if (cure) expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(cure)]))
  else expect(lines.filter((line) => !line.startsWith('info'))).toEqual([])
}

/** The lines of a manager at the default level of a logger: none is left out. */
export function linesOf(tokens: LoginManager, lines: string[] = [], name?: string): string[] {
  const at = (level: string) => (line: string) => void lines.push(`${level} ${line}`)
  logEvents(tokens, { info: at('info'), warn: at('warn'), error: at('error') }, { name })
  return lines
}

/** A manager in virtual time, and its lines. Pauses between two token requests take no time. */
export function onCall(
  options: Pick<TokenManagerOptions, 'source'> & Partial<TokenManagerOptions>,
  clock = manualClock(),
) {
  const tokens = createTokenManager({ clock, random: () => 0.5, ...options }) as LoginManager
  const lines = linesOf(tokens)
  tokens.on('retry', ({ delayMs }) => clock.advance(delayMs))
  return { clock, tokens, lines }
}

export type Reply = readonly [status: number, body: object | string, headers?: Record<string, string>]

export const answer = (response: ServerResponse, [status, body, headers = {}]: Reply): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/html' : 'application/json'
  response.writeHead(status, { 'Content-Type': type, ...headers }).end(text)
}

let issued = 0
export const grant = (more: object = {}): Reply => {
  issued += 1
  const pair = { access_token: `access-${issued}`, refresh_token: `refresh-${issued}` }
  return [200, { ...pair, token_type: 'Bearer', expires_in: 3_600, refresh_expires_in: 86_400, ...more }]
}
export const PAGE = '<html><title>Access denied</title></html>'

/** A token endpoint that responds with `replies`, one after the other; the last one is for all later calls. */
export async function endpoint(...replies: (Reply | (() => Reply))[]) {
  const left = [...replies]
  return serve((_, response) => {
    const next = (left.length > 1 ? left.shift() : left[0])!
    answer(response, typeof next === 'function' ? next() : next)
  })
}

/** An OAuth 2.0 client of that endpoint. */
export const clientOf = (origin: string, options: Partial<OAuth2Options> = {}) =>
  oauth2({
    tokenEndpoint: `${origin}/token`,
    clientId: 'shop',
    ...(options.grant !== 'login' && { clientSecret: 'secret' }),
    ...options,
  } as OAuth2Options)

/** Ends with a token or an error: the scenes check the lines. */
export async function ask({ tokens }: { tokens: LoginManager }): Promise<void> {
  await outcome(tokens.getAccessToken())
  await settle()
}

/** Sends a request to an API that responds with `status`. */
export async function request(tokens: LoginManager, status: () => number): Promise<void> {
  const { origin } = await serve((_, response) => void response.writeHead(status()).end())
  const api = axios.create({ baseURL: origin })
  attachBearer(api, tokens)
  await outcome(api.get('/orders'))
  await settle()
}

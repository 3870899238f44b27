import type { AxiosRequestConfig } from 'axios'
import type { AnomalyKind, TokenErrorCode, TokenEvents } from '../../../src/index.ts'
import { until } from '../../axios/support/turns.ts'
import type { Reply } from './marked-service.ts'
import type { AdapterName, Setting, Stage, Variant } from './marked-stage.ts'

/** One way to fail: a row of a table. */
export interface FailurePath {
  readonly when: string
  /** The code of the final TokenError; or the codes or names that another final error may have; undefined for no error. */
  readonly ends?: TokenErrorCode | readonly string[]
  /** Events that the manager emits before that, among others. */
  readonly tells?: readonly Told[]
  /** What token requests receive: one reply for all of them, or a list for the first ones, with proper responses afterwards. */
  readonly tokenCalls?: Reply | Reply[]
  /** What requests to the API receive. */
  readonly resources?: Reply | Reply[]
  readonly setting?: Setting
  /** Default: one request to the API. @returns The result of the program, an error or not. */
  readonly act?: (stage: Stage) => Promise<unknown>
  readonly variant?: Variant
  readonly adapter?: AdapterName
  /** Whether no secret reaches the wire. */
  readonly unsent?: boolean
}

/** The name of an event; for an anomaly, with its kind. */
export type Told = Exclude<keyof TokenEvents, 'anomaly'> | `anomaly ${AnomalyKind}`

/** The result of a promise, an error or not. */
export function ending(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error)
}

export function request({ api }: Stage, config: AxiosRequestConfig = {}): Promise<unknown> {
  return ending(api.get('/orders', config))
}

/** Gets the first token, and then renews it. */
export async function renewal({ tokens }: Stage): Promise<unknown> {
  await tokens.getAccessToken()
  return ending(tokens.renew())
}

/** Sends a request. Resolves when it waits for the last of `calls` token requests, which has no response. */
export async function waiting(
  stage: Stage,
  { calls = 1, ...config }: AxiosRequestConfig & { calls?: number } = {},
): Promise<{ ended: Promise<unknown> }> {
  const ended = request(stage, config)
  await until(() => stage.service.tokenCalls() === calls)
  return { ended }
}

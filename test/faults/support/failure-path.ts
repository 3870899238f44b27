import type { AxiosRequestConfig } from 'axios'
import type { AnomalyKind, TokenErrorCode, TokenEvents } from '../../../src/index.ts'
import { until } from '../../axios/support/turns.ts'
import type { Reply } from './marked-service.ts'
import type { AdapterName, Setting, Stage, Variant } from './marked-stage.ts'

/** One way in which things go wrong: a line of a table. */
export interface FailurePath {
  readonly when: string
  /** The code of the TokenError that it ends in; of another error any of these codes, or names; undefined for no error. */
  readonly ends?: TokenErrorCode | readonly string[]
  /** What the manager tells on the way, among other things. */
  readonly tells?: readonly Told[]
  /** What token calls meet, all of them, or one after the other until proper answers follow. */
  readonly tokenCalls?: Reply | Reply[]
  /** What requests to the API meet. */
  readonly resources?: Reply | Reply[]
  readonly setting?: Setting
  /** Default: one request to the API. @returns What the program gets, an error or not. */
  readonly act?: (stage: Stage) => Promise<unknown>
  readonly variant?: Variant
  readonly adapter?: AdapterName
  /** No secret gets as far as the wire. */
  readonly unsent?: boolean
}

/** The name of an event, of an anomaly with its kind. */
export type Told = Exclude<keyof TokenEvents, 'anomaly'> | `anomaly ${AnomalyKind}`

/** What a promise ends in, an error or not. */
export function ending(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error)
}

export function request({ api }: Stage, config: AxiosRequestConfig = {}): Promise<unknown> {
  return ending(api.get('/orders', config))
}

/** The first token comes; then somebody renews it. */
export async function renewal({ tokens }: Stage): Promise<unknown> {
  await tokens.getAccessToken()
  return ending(tokens.renew())
}

/** A request waits for the last of `calls` token calls, which is not answered. */
export async function waiting(
  stage: Stage,
  { calls = 1, ...config }: AxiosRequestConfig & { calls?: number } = {},
): Promise<{ ended: Promise<unknown> }> {
  const ended = request(stage, config)
  await until(() => stage.service.tokenCalls() === calls)
  return { ended }
}

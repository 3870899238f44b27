import type { InternalAxiosRequestConfig } from 'axios'
import { builtinModule } from '../core/builtin-module.ts'
import type { AdapterBeneath } from './adapter-beneath.ts'
import { memberOf } from './member-of.ts'

/**
 * Whether a request has a custom `transport` that may follow redirects. axios passes it neither `maxRedirects` nor `beforeRedirect`, so nothing could
 * remove the token before a redirect. The modules of Node follow no redirects, and the adapters of browsers use no transport.
 */
export function mayFollowByItself(config: InternalAxiosRequestConfig, beneath: AdapterBeneath): boolean {
  const transport = memberOf(config as { transport?: unknown }, 'transport')
  if (!transport || !beneath.mayUseTransport(config)) return false
  const request = requestOf(transport)
  return (
    request === undefined ||
    ![builtinModule('node:http'), builtinModule('node:https')].some((one) => requestOf(one) === request)
  )
}

const requestOf = (transport: unknown) => (transport as { request?: unknown } | undefined)?.request

/** The message of the anomaly `custom-transport`. */
export const OWN_TRANSPORT =
  'A request went out without a token: its transport may follow redirects to another origin with the token. Leave out `transport`, or pass ' +
  'the http or https module of Node'

/**
 * For scripts/test-matrix.mjs: token requests, and instances that name no adapter, use `TEST_ADAPTER`. Tests that name an adapter keep it.
 */
import axios, { Axios, getAdapter, type AxiosRequestConfig } from 'axios'

const { TEST_ADAPTER: adapter, TEST_AXIOS: version } = process.env

// Without this check a wrong copy of axios could be tested unnoticed.
if (axios.VERSION !== version) throw new Error(`axios ${axios.VERSION} was loaded instead of ${String(version)}`)
if (adapter !== 'http' && adapter !== 'fetch') throw new Error(`no adapter: TEST_ADAPTER=${String(adapter)}`)

axios.defaults.adapter = adapter
// axios creates its fetch adapter once, from the current globals. Once nock is active, that would be the Request of nock for good.
const named = getAdapter as (name: string, config: object) => unknown
named('fetch', axios.defaults)

type Send = (this: Axios, config: AxiosRequestConfig) => Promise<unknown>
const prototype = Axios.prototype as { request: Send }
const { request } = prototype
prototype.request = function (config, ...rest: []) {
  // Only the instance of the token requests has no default adapter: its calls use the first working adapter of a list.
  const { defaults } = this as Partial<Axios>
  const chooses = defaults?.adapter === undefined && Array.isArray(config.adapter)
  return request.call(this, chooses ? { ...config, adapter } : config, ...rest)
}

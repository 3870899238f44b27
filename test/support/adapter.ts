/**
 * For scripts/test-matrix.mjs: instances that name no adapter, and token calls, use `TEST_ADAPTER`; tests that name one keep it.
 */
import axios, { Axios, getAdapter, type AxiosRequestConfig } from 'axios'

const { TEST_ADAPTER: adapter, TEST_AXIOS: version } = process.env

// A wrong copy of axios would pass for the one that was asked for.
if (axios.VERSION !== version) throw new Error(`axios ${axios.VERSION} was loaded instead of ${String(version)}`)
if (adapter !== 'http' && adapter !== 'fetch') throw new Error(`no adapter: TEST_ADAPTER=${String(adapter)}`)

axios.defaults.adapter = adapter
// axios makes its fetch adapter once, of what is global then: after nock came that would be the Request of nock, for ever.
const named = getAdapter as (name: string, config: object) => unknown
named('fetch', axios.defaults)

type Send = (this: Axios, config: AxiosRequestConfig) => Promise<unknown>
const prototype = Axios.prototype as { request: Send }
const { request } = prototype
prototype.request = function (config, ...rest: []) {
  // An instance without defaults is that of the token calls, which take the first adapter of a list that works.
  const { defaults } = this as Partial<Axios>
  const chooses = defaults?.adapter === undefined && Array.isArray(config.adapter)
  return request.call(this, chooses ? { ...config, adapter } : config, ...rest)
}

import axios from 'axios'
import { BASE_URL } from '../in-process-api.mjs'
import { MemoryAgent } from './memory-agent.mjs'

/** An axios instance on its http adapter, with connections in memory. */
export function onHttp() {
  return axios.create({ baseURL: BASE_URL, adapter: 'http', httpAgent: new MemoryAgent(), proxy: false })
}

/** One on its fetch adapter, where a function stands for `fetch`. */
export function onFetch() {
  return axios.create({ baseURL: BASE_URL, adapter: 'fetch', env: { fetch: answered } })
}

/** Without a body: reading one takes long, for all alike, and would hide part of what a contestant costs. */
async function answered() {
  return new Response(null)
}

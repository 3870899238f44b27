import axios from 'axios'
import { BASE_URL } from '../in-process-api.mjs'
import { MemoryAgent } from './memory-agent.mjs'

/** An axios instance on its http adapter, with connections in memory. */
export function onHttp() {
  return axios.create({ baseURL: BASE_URL, adapter: 'http', httpAgent: new MemoryAgent(), proxy: false })
}

/** An axios instance on its fetch adapter, with a function instead of `fetch`. */
export function onFetch() {
  return axios.create({ baseURL: BASE_URL, adapter: 'fetch', env: { fetch: answered } })
}

/** A response without a body: reading one takes long for all contestants, and would hide part of their own cost. */
async function answered() {
  return new Response(null)
}

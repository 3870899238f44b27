// The service behind the page: a token endpoint of OAuth 2.0 whose refresh tokens rotate, a login, and an API. Nothing leaves the page.
import axios, { AxiosError } from 'axios'

export const ORIGIN = 'https://shop.example'
export const LIFETIME_MS = 12_000
const API_MS = 120
const TOKEN_MS = 300
const SLOW_MS = 2_500
const RETRY_AFTER_S = 5

/** The faults that happen only once to each owner. */
export const ONCE = ['stolen', 'lost']

/**
 * An owner has a login of its own: it is one column of the page.
 * @param {readonly string[]} owners
 * @param {(event: object) => void} observe Receives token requests, issued token sets, and logins that the service ends.
 */
export function startService(owners, observe) {
  const troubles = new Set()
  /** By access token: its family, and until when it is valid. The clock of the page may be wrong; this one is not. */
  const accesses = new Map()
  /** By refresh token. A family is all tokens of one login. `current`: the only refresh token that is still valid. */
  const families = new Map()
  /** The owners to whom these faults have not happened yet. */
  const open = Object.fromEntries(ONCE.map((name) => [name, new Set()]))
  let count = 0

  function issue(family) {
    count += 1
    const [access_token, refresh_token] = [`access-${count}`, `refresh-${count}`]
    accesses.set(access_token, { family, until: performance.now() + LIFETIME_MS })
    families.set(refresh_token, family)
    family.current = refresh_token
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: LIFETIME_MS / 1_000 }
  }

  function met(name, owner) {
    const isFirst = open[name].delete(owner)
    if (isFirst && open[name].size === 0) {
      troubles.delete(name)
      observe({ type: 'over', name })
    }
    return isFirst
  }

  function answered(form, owner) {
    if (troubles.has('down')) return [503, { error: 'temporarily_unavailable' }]
    if (troubles.has('throttled')) return [429, { error: 'slow_down' }, { 'Retry-After': String(RETRY_AFTER_S) }]
    const presented = form.get('refresh_token')
    const family = families.get(presented)
    if (family && !family.isOver && family.current !== presented) {
      // Presented twice: there are two copies, and the service cannot know which is stolen (RFC 9700, section 4.14.2).
      family.isOver = true
      observe({ type: 'ended', owner, why: met('stolen', owner) ? 'stolen' : 'reused' })
    }
    if (!family || family.isOver) return [400, { error: 'invalid_grant' }]
    return [200, issue(family)]
  }

  async function token(config, owner) {
    const call = { type: 'called', owner, id: (count += 1) }
    observe(call)
    const slow = troubles.has('slow')
    // The service performs the exchange at once, and responds later.
    const [status, body, headers] = answered(new URLSearchParams(config.data), owner)
    await passed(slow ? SLOW_MS : TOKEN_MS)
    const isLost = status === 200 && troubles.has('lost') && met('lost', owner)
    observe({ ...call, type: 'responded', status: isLost ? 0 : status })
    if (isLost) throw new AxiosError('Network Error', AxiosError.ERR_NETWORK, config)
    return [status, body, headers]
  }

  async function api(config) {
    await passed(API_MS + 40 * Math.abs(Math.sin((count += 1))))
    const bearer = /^Bearer (.+)$/.exec(config.headers.get('Authorization') ?? '')?.[1]
    const { family, until = 0 } = accesses.get(bearer) ?? {}
    const isGood = family && !family.isOver && until > performance.now() && !troubles.has('refused')
    return isGood ? [200, { orders: [] }] : [401, { error: 'invalid_token' }]
  }

  return {
    /** A user logs in. @returns The token response; undefined while the service rejects logins. */
    async logIn(owner) {
      await passed(TOKEN_MS)
      if (troubles.has('down') || troubles.has('throttled')) return undefined
      return issue({ owner })
    },
    /** @returns An axios adapter instead of the network. */
    adapterOf: (owner) => async (config) => {
      const { pathname } = new URL(axios.getUri(config))
      return settled(config, await (pathname === '/token' ? token(config, owner) : api(config)))
    },
    /** Switches a fault on or off. */
    set(name, isOn) {
      if (!isOn) return void (troubles.delete(name), open[name]?.clear())
      troubles.add(name)
      for (const owner of open[name] ? owners : []) open[name].add(owner)
      // The thief presents the refresh tokens, and has the next token sets.
      if (name === 'stolen') for (const family of new Set(families.values())) if (!family.isOver) issue(family)
    },
  }
}

const passed = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Resolves or rejects as every adapter of axios does. */
function settled(config, [status, body, headers = {}]) {
  const response = { status, statusText: '', data: JSON.stringify(body), headers, config, request: {} }
  if (!config.validateStatus || config.validateStatus(status)) return response
  throw new AxiosError(`Request failed with status code ${status}`, AxiosError.ERR_BAD_REQUEST, config, {}, response)
}

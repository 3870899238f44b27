import axios from 'axios'
import { createTokenManager } from '../../dist/index.js'
import { oauth2 } from '../../dist/oauth2.js'
import { machine } from '../lib/machine.mjs'
import { figure } from '../lib/table.mjs'

export const name = 'renewal'
export const title = 'Renewal: what one costs, beside the same call by hand'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 1
/** Not on the page: it was measured on another machine. */
export const isApart = true

const RENEWALS = 200
const URL = 'https://id.example.com/token'
let issued = 0

/** The response is made in memory, so no socket is in either figure. */
async function adapter(config) {
  issued += 1
  const grant = { access_token: `a${issued}`, token_type: 'Bearer', expires_in: 300, refresh_token: `r${issued}` }
  const headers = new axios.AxiosHeaders({ 'content-type': 'application/json' })
  return { data: JSON.stringify(grant), status: 200, statusText: 'OK', headers, config, request: {} }
}

/** @returns µs of processor time: of one renewal through `oauth2()`, and of an `axios.post` with `JSON.parse` of the same response. */
export async function run({ quick }) {
  const laps = quick ? 10 : 30
  const source = oauth2({ tokenEndpoint: URL, clientId: 'client', clientSecret: 'secret', transport: { adapter } })
  const tokens = createTokenManager({ source })
  const byHand = { adapter, responseType: 'text', transformResponse: (text) => text }
  const renewing = () => tokens.renew()
  const posting = async () => JSON.parse((await axios.post(URL, 'grant_type=refresh_token', byHand)).data)
  await microseconds(renewing, laps)
  const [own, hand] = [await microseconds(renewing, laps), await microseconds(posting, laps)]
  await tokens.close()
  return { own, hand, cpu: machine().cpu }
}

/** @returns A low quantile of laps, because other work of the machine makes a lap longer and never shorter. */
async function microseconds(act, count) {
  const laps = []
  for (let lap = 0; lap < count; lap += 1) {
    const begun = used()
    for (let done = 0; done < RENEWALS; done += 1) {
      await act()
      await new Promise(setImmediate)
    }
    laps.push((used() - begun) / RENEWALS)
  }
  return laps.sort((one, other) => one - other)[Math.floor(count / 10)]
}

function used() {
  const { user, system } = process.cpuUsage()
  return user + system
}

export function ratios({ own, hand }) {
  return { 'a renewal, × the same call by hand': { value: own / hand, tolerance: 1.2 } }
}

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ own, hand, cpu }) {
  return [
    'µs of processor time for a renewal through `oauth2()`, its answer made in memory',
    figure(own),
    `${figure(hand)} by hand; ${cpu}`,
  ]
}

// What one renewal through oauth2() costs this process, beside an axios.post with JSON.parse of the same answer: node scripts/renewal-cpu.mjs. µs of CPU
// (a low quantile of laps). The answer is made in memory, so no socket is in either figure. Needs the built package.
import axios from 'axios'
import { createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'

const [LAPS, RENEWALS] = [30, 200]
const url = 'https://id.example.com/token'
let issued = 0

async function adapter(config) {
  issued += 1
  const grant = { access_token: `a${issued}`, token_type: 'Bearer', expires_in: 300, refresh_token: `r${issued}` }
  const headers = new axios.AxiosHeaders({ 'content-type': 'application/json' })
  return { data: JSON.stringify(grant), status: 200, statusText: 'OK', headers, config, request: {} }
}

const source = oauth2({ tokenEndpoint: url, clientId: 'client', clientSecret: 'secret', transport: { adapter } })
const tokens = createTokenManager({ source })
const byHand = { adapter, responseType: 'text', transformResponse: (text) => text }
const renewing = () => tokens.renew()
const posting = async () => JSON.parse((await axios.post(url, 'grant_type=refresh_token', byHand)).data)

await microseconds(renewing)
const [own, hand] = [await microseconds(renewing), await microseconds(posting)]
console.log(
  `a renewal ${own.toFixed()} µs · by hand ${hand.toFixed()} µs · beyond the transport ${(own - hand).toFixed()} µs`,
)
await tokens.close()

async function microseconds(act) {
  const laps = []
  for (let lap = 0; lap < LAPS; lap += 1) {
    const begun = used()
    for (let done = 0; done < RENEWALS; done += 1) {
      await act()
      await new Promise(setImmediate)
    }
    laps.push((used() - begun) / RENEWALS)
  }
  return laps.sort((one, other) => one - other)[Math.floor(LAPS / 10)]
}

function used() {
  const { user, system } = process.cpuUsage()
  return user + system
}

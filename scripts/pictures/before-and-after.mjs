// Records requests around the expiry of a token, with the pair of interceptors that tutorials show, and with axios-evergreen: both real, on loopback.
import axios from 'axios'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import * as evergreen from '../../bench/contestants/evergreen.mjs'
import * as handWritten from '../../bench/contestants/hand-written.mjs'
import { startTokenService } from '../../bench/evergreen.mjs'
import { chart, Plot } from '../../bench/lib/chart.mjs'
import { PACKAGE, STRONG } from '../../bench/lib/colors.mjs'
import { tokenCall } from '../../bench/lib/token-call.mjs'

export const page = 'renewal.md'

const LIFETIME_MS = 8_000
const PER_SECOND = 40
/** First and last request, ms from the expiry of the first token. */
const [FROM_MS, TO_MS] = [-4_000, 2_500]
const SERVICE = {
  accessLifetimeMs: LIFETIME_MS,
  latencyMs: 400,
  throttle: { calls: 15, windowMs: 60_000 },
}
const SIDES = { 'a hand-written interceptor': handWritten, 'axios-evergreen': evergreen }

/** @returns For each side `{ side, requests: [{ at, ms, isFailed }], tokenCalls: [at] }`, `at` in ms from the expiry of the first token. */
export function record() {
  return Promise.all(Object.entries(SIDES).map(([side, contestant]) => recorded(side, contestant)))
}

async function recorded(side, { create }) {
  const service = await startTokenService(SERVICE)
  const httpAgent = new Agent({ keepAlive: true })
  const instance = axios.create({ baseURL: service.baseUrl, httpAgent, proxy: false })
  const { get, close } = await create({ instance, baseUrl: service.baseUrl, service, obtain: tokenCall(service) })
  await get('/wallet')
  // The log has the instant of the answer. The service issues the token earlier.
  const issuedAt = ({ at }) => at - SERVICE.latencyMs
  const tokenCalls = () => service.log.filter(({ kind }) => kind === 'obtain').map(issuedAt)
  const expiry = tokenCalls()[0] + LIFETIME_MS
  const requests = []
  const send = async () => {
    const at = Date.now() - expiry
    const startedAt = performance.now()
    const isFailed = await get('/wallet').then(
      () => false,
      () => true,
    )
    requests.push({ at, ms: Math.round(performance.now() - startedAt), isFailed })
  }
  const pending = []
  for (let at = FROM_MS; at <= TO_MS; at += 1_000 / PER_SECOND) {
    await pause(Math.max(0, expiry + at - Date.now()))
    pending.push(send())
  }
  await Promise.all(pending)
  const shown = tokenCalls()
    .map((at) => at - expiry)
    .filter((at) => at >= FROM_MS && at <= TO_MS)
  await close?.()
  httpAgent.destroy()
  await service.close()
  return { side, requests, tokenCalls: shown }
}

export function draw(sides) {
  const told = ({ side, requests, tokenCalls }) => {
    const failed = requests.filter(({ isFailed }) => isFailed).length
    const fail = failed === 0 ? 'none fails' : `${failed} request${failed === 1 ? ' fails' : 's fail'}`
    return `${side} makes ${tokenCalls.length} token call${tokenCalls.length === 1 ? '' : 's'} and ${fail}`
  }
  const title = `When a token expires, ${sides.map(told).join('; ')}`
  const requests = sides.flatMap(({ side, requests }) =>
    requests.map((each) => ({ side, ...each, at: each.at / 1_000 })),
  )
  const calls = sides.flatMap(({ side, tokenCalls }) => tokenCalls.map((at) => ({ side, at: at / 1_000 })))
  const highest = Math.max(...requests.map(({ ms }) => ms))
  const color = ({ side }) => (side === 'axios-evergreen' ? PACKAGE : STRONG)
  const of = (isFailed) => requests.filter((each) => each.isFailed === isFailed)
  const svg = chart({
    title,
    subtitle: `${PER_SECOND} requests a second. Dots: requests, by duration. Crosses: failures. Strokes: token calls`,
    height: 400,
    marginTop: 30,
    marginRight: 20,
    x: { label: 'seconds from the expiry of the token', domain: [FROM_MS / 1_000, TO_MS / 1_000], grid: true },
    y: { label: 'ms', domain: [0, highest * 1.35], ticks: 4, grid: true },
    fy: { label: null, axis: null, domain: sides.map(({ side }) => side), padding: 0.16 },
    marks: [
      Plot.ruleX([0], { stroke: 'currentColor', strokeDasharray: '3,3' }),
      Plot.ruleY([0]),
      Plot.dot(of(false), { fy: 'side', x: 'at', y: 'ms', fill: color, r: 2.5 }),
      Plot.dot(of(true), { fy: 'side', x: 'at', y: 'ms', stroke: STRONG, symbol: 'times', r: 4, strokeWidth: 2 }),
      Plot.ruleX(calls, {
        fy: 'side',
        x: 'at',
        y1: highest * 1.15,
        y2: highest * 1.35,
        stroke: color,
        strokeWidth: 1.5,
      }),
      Plot.text(sides, { fy: 'side', text: 'side', frameAnchor: 'top-left', dy: -16, fontWeight: 600 }),
    ],
  })
  return { title, svg }
}

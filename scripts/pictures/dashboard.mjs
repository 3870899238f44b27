// The panels of docs/operations/dashboard.json over a real outage on loopback: metrics of the real SDK, scraped each second by the real Prometheus
// (`prometheus` on PATH), which also evaluates the expressions of the panels. Only Grafana is missing: this script draws the panels.
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import axios from 'axios'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { panels as drawPanels, Plot } from '../../bench/lib/chart.mjs'
import { FAINT, OTHER, PACKAGE, STRONG } from '../../bench/lib/colors.mjs'
import { attachBearer, createTokenManager, loginPassword } from '../../dist/index.js'
import { instrument } from '../../dist/opentelemetry.js'
import { startTokenService } from '../../dist/testing.js'

export const page = 'operations.md'

const LIFETIME_MS = 30_000
const PER_SECOND = 10
/** Instants of the recording, s. */
const [AWAY, BACK, THEFT, END] = [60, 120, 165, 210]
/** Grafana would take 4 s with a scrape each second. 15 s give quieter lines. */
const RATE_INTERVAL = '15s'
const STEP = 2

const dashboard = JSON.parse(readFileSync(new URL('../../docs/operations/dashboard.json', import.meta.url), 'utf8'))

/** @returns `{ panels: [{ title, unit, series: [{ name, points: [[second, value]] }] }], requests: [{ at, isFailed }] }` */
export async function record() {
  const service = await startTokenService({ accessLifetimeMs: LIFETIME_MS, latencyMs: 80 })
  const front = await startFront(service.baseUrl)
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port: 0, preventServerStart: true })
  const metrics = new MeterProvider({ readers: [exporter] })
  const scraped = createServer((incoming, outgoing) => exporter.getMetricsRequestHandler(incoming, outgoing))
  const prometheus = await startPrometheus(await listening(scraped))
  const tokens = createTokenManager({ source: loginPassword({ baseUrl: front.url, ...service.login }) })
  const attributes = { 'evergreen.account': 'bakery' }
  const stop = instrument(tokens, { meter: metrics.getMeter('payments'), attributes })
  const api = axios.create({ baseURL: service.baseUrl, proxy: false })
  attachBearer(api, tokens)
  const beganAt = Date.now()
  try {
    const scenes = [
      [AWAY, () => front.setAway(true)],
      [BACK, () => front.setAway(false)],
      [THEFT, () => service.stealRefreshToken()],
    ]
    const requests = await traffic(api, beganAt, scenes)
    return {
      panels: await Promise.all(dashboard.panels.map((panel) => evaluated(prometheus.url, panel, beganAt / 1_000))),
      requests,
    }
  } finally {
    stop()
    await tokens.close()
    await prometheus.close()
    scraped.close()
    scraped.closeAllConnections()
    front.close()
    await service.close()
    await metrics.shutdown()
  }
}

async function traffic(api, beganAt, scenes) {
  const requests = []
  const pending = []
  const send = async (at) => {
    const isFailed = await api.get('/wallet').then(
      () => false,
      () => true,
    )
    requests.push({ at, isFailed })
  }
  for (let at = 0; at < END; at += 1 / PER_SECOND) {
    await pause(Math.max(0, beganAt + at * 1_000 - Date.now()))
    if (scenes[0]?.[0] <= at) await scenes.shift()[1]()
    pending.push(send(at))
  }
  await Promise.all(pending)
  return requests.sort((one, other) => one.at - other.at)
}

/** Forwards calls to the token service, or answers 503 in its place. */
async function startFront(baseUrl) {
  let isAway = false
  const server = createServer((incoming, outgoing) => {
    if (isAway) return void outgoing.writeHead(503).end()
    const { method, headers, url } = incoming
    const onward = request(new URL(url, baseUrl), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  const address = await listening(server)
  return {
    url: `http://${address}`,
    setAway: (value) => (isAway = value),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function listening(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `127.0.0.1:${server.address().port}`
}

async function startPrometheus(target) {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-prometheus-'))
  const job = { job_name: 'payments', scrape_interval: '1s', static_configs: [{ targets: [target] }] }
  // JSON is YAML, too.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({ scrape_configs: [job] }))
  const free = createServer()
  const address = await listening(free)
  free.close()
  const settings = {
    'config.file': join(folder, 'prometheus.yml'),
    'storage.tsdb.path': join(folder, 'data'),
    'web.listen-address': address,
  }
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const child = spawn('prometheus', args, { stdio: 'ignore' })
  await Promise.race([
    once(child, 'spawn'),
    once(child, 'error').then(([{ message }]) => {
      throw new Error(`This needs Prometheus on PATH (Debian's package prometheus): ${message}`)
    }),
  ])
  const url = `http://${address}`
  for (let isReady = false; !isReady; await pause(200))
    isReady = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  return {
    url,
    async close() {
      const gone = once(child, 'exit')
      child.kill()
      await gone
      rmSync(folder, { recursive: true })
    },
  }
}

/** The series of a panel, as Prometheus evaluates them. */
async function evaluated(url, { title, fieldConfig, targets }, beganAt) {
  const series = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const query = expr.replaceAll('$__rate_interval', RATE_INTERVAL).replace(/\$(job|account)/g, '.*')
      const parameters = new URLSearchParams({ query, start: beganAt, end: beganAt + END, step: STEP })
      const { data, error } = await (await fetch(`${url}/api/v1/query_range?${parameters}`)).json()
      if (error) throw new Error(`${title}: ${error}`)
      return data.result.map(({ metric, values }) => ({
        name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '').trim(),
        points: values.map(([at, value]) => [Math.round(at - beganAt), Number(value)]),
      }))
    }),
  )
  return { title, unit: fieldConfig.defaults.unit, series: series.flat() }
}

export function draw({ panels, requests }) {
  const failed = requests.filter(({ isFailed }) => isFailed).map(({ at }) => at)
  const [first, last] = [failed.at(0), failed.at(-1)].map((at) => Math.round(at))
  const title =
    failed.length === 0
      ? `The token service is away for ${BACK - AWAY} s, and no request fails`
      : `The token service is away for ${BACK - AWAY} s: requests fail from ${first - AWAY} s into the outage until ${last - BACK} s after it`
  const svg = drawPanels({
    title,
    subtitle: `Over ${END} seconds. Shaded: the outage. Dotted: somebody uses the refresh token. Tokens live ${LIFETIME_MS / 1_000} s`,
    height: 120,
    marginLeft: 46,
    marginRight: 12,
    marginTop: 8,
    marginBottom: 22,
    x: { label: null, domain: [0, END], ticks: 4 },
    panels: panels.map(panelOf),
  })
  return { title, svg }
}

const UNITS = { s: ', s' }
const TROUBLE = /ERR_|rejected|unknown|cooling|expired|stopped|suspicion|store|anomaly|95/
/** The colour of the package marks what goes well. */
const LINES = {
  true: [{ color: STRONG }, { color: STRONG, dash: '4 3' }, { color: OTHER }],
  false: [{ color: PACKAGE }, { color: PACKAGE, dash: '4 3' }, { color: OTHER }],
}

function panelOf({ title, unit, series }) {
  const shown = series
    .filter(({ points }) => points.some(([, value]) => value > 0))
    .sort((one, other) => other.points.length - one.points.length)
  const used = { true: 0, false: 0 }
  const lines = shown.map(({ name }) => LINES[TROUBLE.test(name)][used[TROUBLE.test(name)]++])
  const names = shown.map(({ name }) => name.replace(/^bakery /, '') || 'no error')
  const data = shown.flatMap(({ points }, n) => gapped(points).map(([at, value]) => ({ n, at, value })))
  const highest = Math.max(0.01, ...data.map(({ value }) => value).filter(Number.isFinite))
  return {
    title: `${title}${UNITS[unit] ?? ''}`,
    legend: Object.fromEntries(names.map((name, n) => [name, lines[n]])),
    y: { label: null, domain: [0, highest * 1.1], ticks: 3, grid: true },
    marks: [
      Plot.rectX([0], { x1: AWAY, x2: BACK, fill: FAINT, fillOpacity: 0.5 }),
      Plot.ruleX([THEFT], { stroke: 'currentColor', strokeDasharray: '2,2' }),
      Plot.ruleY([0]),
      lines.map(({ color, dash }, at) =>
        Plot.lineY(
          data.filter(({ n }) => n === at),
          { x: 'at', y: 'value', stroke: color, strokeDasharray: dash, strokeWidth: 2 },
        ),
      ),
    ],
  }
}

/** A line ends where a series has no values. */
function gapped(points) {
  return points.flatMap(([at, value], n) => {
    const isApart = n > 0 && at - points[n - 1][0] > STEP * 1.5
    return [...(isApart ? [[at - STEP, NaN]] : []), [at, value]]
  })
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPromtoolThere, promtool } from './operations/promtool.ts'

const read = (name: string) => readFileSync(name, 'utf8')
const page = read('docs/operations.md')
const rules = read('docs/operations/alerts.yml')
const dashboard = JSON.parse(read('docs/operations/dashboard.json')) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[]
}
const expressions = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })))

const metrics = Array.from(
  read('src/opentelemetry/measurements.ts').matchAll(/(?:seconds|counter|Gauge)\(\s*'(evergreen\.[a-z.]+)'/g),
  ([, name]) => name!,
)
const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name!)

describe('given the monitoring of a manager in production', () => {
  it('when the metrics of the page are read, then they are those of the package', () => {
    const told = Array.from(page.matchAll(/^- `(evergreen\.[a-z.]+)` \(/gm), ([, name]) => name)
    expect(told.sort()).toEqual([...metrics].sort())
  })

  it('when alerts and dashboard name a metric, then it is one of them', () => {
    const texts = [rules, ...expressions.map(({ expr }) => expr)]
    const words = texts.flatMap((text) => text.match(/\bevergreen_[a-z_]+/g) ?? [])
    const names = metrics.map((name) => name.replaceAll('.', '_'))
    const labels = /^evergreen_(account|exchange|outcome|phase|suspicion_\w+|anomaly_kind|renewal_cause|login_reason)$/
    const unknown = words.filter((word) => !labels.test(word) && !names.includes(word.replace(/_total$/, '')))
    expect(unknown).toEqual([])
    for (const name of names) expect([rules, JSON.stringify(dashboard)].join()).toContain(name)
  })

  it('when an alert is read, then the page says why, and what to do', () => {
    const why = Array.from(page.matchAll(/^### (Evergreen\w+)\n\n_(\w+):_ \S/gm), ([, name, severity]) => [
      name,
      severity,
    ])
    const runbook = Array.from(page.matchAll(/^### (Evergreen\w+)$/gm), ([, name]) => name)
    const linked = Array.from(rules.matchAll(/runbook: docs\/operations\.md#(\w+)/g), ([, name]) => name)
    const told = Array.from(rules.matchAll(/- alert: (\w+).*?severity: (\w+)/gs), ([, name, severity]) => [
      name,
      severity,
    ])
    expect(why).toEqual(told)
    expect([runbook, linked]).toEqual([alerts, alerts.map((name) => name.toLowerCase())])
  })
})

const isThere = isPromtoolThere()

;(isThere ? describe : describe.skip)('given promtool', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'evergreen-rules-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const inPrometheus = (expr: string) => expr.replaceAll('$__rate_interval', '5m').replace(/\$(job|account)/g, '.*')

  it('when promtool checks the alerts, then they can be loaded', () => {
    expect(promtool('check', 'rules', 'docs/operations/alerts.yml')).toMatchObject({ status: 0 })
  })

  it('when promtool plays a good hour and a bad one, then the alerts fire only in the bad one: for a theft, not for a new password (F306)', () => {
    expect(promtool('test', 'rules', 'test/operations/alerts.test.yml')).toMatchObject({ status: 0 })
  })

  it('when a counter appears, then the dashboard counts from zero', () => {
    const born = {
      series: 'evergreen_suspicions_total{job="payments",evergreen_account="bakery"}',
      values: '_x3 1x6 2x9',
    }
    const [{ expr } = { expr: '' }] = expressions.filter(({ expr: each }) => each.includes(born.series.split('{')[0]!))
    const at = (eval_time: string, value: number) => ({
      expr: inPrometheus(expr),
      eval_time,
      exp_samples: [{ labels: '{}', value }],
    })
    const test = { interval: '1m', input_series: [born], promql_expr_test: [at('4m', 1), at('9m', 0), at('18m', 0)] }
    const file = join(folder, 'born.json')
    writeFileSync(file, JSON.stringify({ tests: [test] }))
    expect(promtool('test', 'rules', file)).toMatchObject({ status: 0 })
  })

  it('when promtool reads the expressions of the dashboard, then it can parse them', () => {
    const asRules = expressions.map(({ expr }, n) => ({
      record: `panel:${n}`,
      expr: inPrometheus(expr),
    }))
    const file = join(folder, 'dashboard.json')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }))
    expect(promtool('check', 'rules', file)).toMatchObject({ status: 0 })
  })
})

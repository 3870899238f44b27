import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Conduct, Scene } from './fleet.ts'
import { isPromtoolThere, promtool } from './promtool.ts'
import { hasSeries, recorded, type Recording, thinned } from './recording.ts'

const SCRAPE_MS = 15_000
const FIVE_MINUTES_MS = 300_000
const FAULT_AT = 120_000
const CRITICAL = ['EvergreenStopped', 'EvergreenNoToken', 'EvergreenSuspicious'] as const
const NO_TOKEN = {
  exp_labels: { severity: 'critical', job: 'payments', evergreen_account: 'bakery' },
  exp_annotations: {
    summary: 'There is no access token, and requests fail',
    runbook: 'docs/operations.md#evergreennotoken',
  },
}

/** How often requests come. The rarest: twenty replicas that share one request a minute. */
const RATES = {
  'one request a minute in all': (replicas: number) => replicas * 60_000,
  'one request a minute at each replica': () => 60_000,
  'five requests a second in all': (replicas: number) => replicas * 200,
}
type Rate = keyof typeof RATES
const fleets = (...rates: Rate[]) =>
  rates.flatMap((rate) =>
    [1, 3, 20].flatMap((replicas) =>
      ['with a store', 'without a store'].map((store) => ({ rate, replicas, store }) as const),
    ),
  )
type FleetShape = ReturnType<typeof fleets>[number]
const RARE_AND_BUSY = fleets('one request a minute in all', 'five requests a second in all')
// Every replica needs a token that serves.
const USED = fleets('one request a minute at each replica', 'five requests a second in all')

const sceneOf = ({ rate, replicas, store }: FleetShape, rest: Pick<Scene, 'conduct'> & Partial<Scene>): Scene => ({
  replicas,
  everyMs: RATES[rate](replicas),
  isShared: store === 'with a store',
  lifetimeMs: 60_000,
  lastsMs: 600_000,
  ...rest,
})

const hasPromtool = isPromtoolThere()

;(hasPromtool ? describe : describe.skip)('given the alerts, and series that were recorded from the library', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'evergreen-alerts-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Plays the alerts over the recording. @param fires Whether `EvergreenNoToken` must fire at an instant; undefined: both is right. */
  function play({ series }: Recording, scrapeMs: number, lastsMs: number, fires: (at: number) => boolean | undefined) {
    const instants = Array.from({ length: lastsMs / scrapeMs + 1 }, (_, n) => n * scrapeMs)
    const alert_rule_test = instants.flatMap((at) =>
      CRITICAL.flatMap((alertname) => {
        const mustFire = alertname === 'EvergreenNoToken' ? fires(at) : false
        const eval_time = `${at / 1_000}s`
        return mustFire === undefined ? [] : [{ eval_time, alertname, exp_alerts: mustFire ? [NO_TOKEN] : [] }]
      }),
    )
    const interval = `${scrapeMs / 1_000}s`
    const file = join(folder, 'recorded.json')
    const tests = [{ interval, input_series: series, alert_rule_test }]
    const rules = { rule_files: [resolve('docs/operations/alerts.yml')], evaluation_interval: interval, tests }
    writeFileSync(file, JSON.stringify(rules))
    expect(promtool('test', 'rules', file)).toMatchObject({ status: 0 })
  }

  const outages = { hangs: 'hangs', 'answers 503': 503, 'answers 400': 400 } as const satisfies Record<string, Conduct>
  const failing = Object.entries(outages).flatMap(([does, conduct]) =>
    RARE_AND_BUSY.map((fleet) => ({ ...fleet, does, conduct })),
  )
  it.each(failing)(
    'when the token service $does, with $replicas replica(s) $store, at $rate, then the critical alert fires within five minutes and goes on (F249)',
    async ({ conduct, ...fleet }) => {
      const scene = sceneOf(fleet, { conduct: (now) => (now < FAULT_AT ? 'well' : conduct) })
      const recording = await recorded(scene, SCRAPE_MS)
      const { failingSince = NaN, failed } = recording
      expect(failed).toBeGreaterThanOrEqual(5)
      const fires = (at: number) =>
        at < FAULT_AT ? false : at >= Math.floor((failingSince + FIVE_MINUTES_MS) / SCRAPE_MS) * SCRAPE_MS || undefined
      play(recording, SCRAPE_MS, scene.lastsMs, fires)
      // Many scrape once a minute.
      play(thinned(recording, 4), 4 * SCRAPE_MS, scene.lastsMs, fires)
    },
  )

  const both = (recording: Recording, lastsMs: number) => {
    play(recording, SCRAPE_MS, lastsMs, () => false)
    play(thinned(recording, 4), 4 * SCRAPE_MS, lastsMs, () => false)
  }

  it.each(RARE_AND_BUSY)(
    'when $replicas replica(s) $store are throttled for a minute, at $rate, then no critical alert fires (F249)',
    async (fleet) => {
      const conduct = (now: number) => (now >= FAULT_AT && now < FAULT_AT + 60_000 ? 429 : 'well')
      const scene = sceneOf(fleet, { conduct })
      both(await recorded(scene, SCRAPE_MS), scene.lastsMs)
    },
  )

  it.each(USED)(
    'when renewals of $replicas replica(s) $store fail while the token serves, at $rate, then no critical alert fires (F249)',
    async (fleet) => {
      // Renewal is due after 480 s, or earlier: the owners of a store spread theirs. From 590 s on callers wait.
      const conduct = (now: number) => (now >= 300_000 && now < 580_000 ? 503 : 'well')
      const scene = sceneOf(fleet, { conduct, lifetimeMs: 600_000, lastsMs: 720_000 })
      const recording = await recorded(scene, SCRAPE_MS)
      expect(recording.failed).toBe(0)
      expect(hasSeries(recording, 'evergreen_renewal_failures_total')).toBe(true)
      both(recording, scene.lastsMs)
    },
  )

  it.each(RARE_AND_BUSY)(
    'when $replicas replica(s) $store are deployed anew, at $rate, then no critical alert fires (F249)',
    async (fleet) => {
      const scene = sceneOf(fleet, { conduct: () => 'well', deployAt: FAULT_AT })
      const recording = await recorded(scene, SCRAPE_MS)
      // Requests that reach a process while it ends.
      expect(hasSeries(recording, 'error_type="ERR_CLOSED"')).toBe(true)
      both(recording, scene.lastsMs)
    },
  )
})

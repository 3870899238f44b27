import { beforeAll, describe, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { part } from '../support/part.ts'
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

/** The time between requests. The rarest: twenty replicas that share one request a minute. */
const RATES = {
  'one request a minute in all': (replicas: number) => replicas * 60_000,
  'one request a minute at each replica': () => 60_000,
  'five requests a second in all': (replicas: number) => replicas * 200,
}
type Rate = keyof typeof RATES
const fleets = (...rates: Rate[]) =>
  rates.flatMap((rate) =>
    part([1, 3, 20], [1, 3]).flatMap((replicas) =>
      ['with a store', 'without a store'].map((store) => ({ rate, replicas, store }) as const),
    ),
  )
type FleetShape = ReturnType<typeof fleets>[number]
const RARE_AND_BUSY = fleets('one request a minute in all', 'five requests a second in all')
// Every replica needs a valid token.
const USED = fleets('one request a minute at each replica', 'five requests a second in all')

const sceneOf = ({ rate, replicas, store }: FleetShape, rest: Pick<Scene, 'conduct'> & Partial<Scene>): Scene => ({
  replicas,
  everyMs: RATES[rate](replicas),
  isShared: store === 'with a store',
  lifetimeMs: 60_000,
  lastsMs: 600_000,
  ...rest,
})

/** A scene, and what must be true of it. */
interface Case {
  readonly title: string
  readonly scene: Scene
  /** Whether `EvergreenNoToken` must fire at an instant; undefined: either is right. By default it never fires. */
  readonly fires?: (at: number, recording: Recording) => boolean | undefined
  readonly shows: (recording: Recording) => void
}

const fleetIn = ({ rate, replicas, store }: FleetShape) => `${replicas} replica(s) ${store}, at ${rate}`
const outages = { hangs: 'hangs', 'answers 503': 503, 'answers 400': 400 } as const satisfies Record<string, Conduct>
const cases: Case[] = [
  ...Object.entries(outages).flatMap(([does, conduct]) =>
    RARE_AND_BUSY.map((fleet) => ({
      title: `when the token service ${does}, with ${fleetIn(fleet)}, then the critical alert fires within five minutes and goes on (F249)`,
      scene: sceneOf(fleet, { conduct: (now) => (now < FAULT_AT ? 'well' : conduct) }),
      fires: (at: number, { failingSince = NaN }: Recording) =>
        at < FAULT_AT ? false : at >= Math.floor((failingSince + FIVE_MINUTES_MS) / SCRAPE_MS) * SCRAPE_MS || undefined,
      shows: ({ failed }: Recording) => expect(failed).toBeGreaterThanOrEqual(5),
    })),
  ),
  ...RARE_AND_BUSY.map((fleet) => ({
    title: `when ${fleetIn(fleet)}, are throttled for a minute, then no critical alert fires (F249)`,
    scene: sceneOf(fleet, { conduct: (now) => (now >= FAULT_AT && now < FAULT_AT + 60_000 ? 429 : 'well') }),
    shows: () => undefined,
  })),
  ...USED.map((fleet) => ({
    title: `when renewals of ${fleetIn(fleet)}, fail while the token serves, then no critical alert fires (F249)`,
    scene: sceneOf(fleet, {
      // Renewal is due after 480 s, or earlier: the owners of a store spread theirs. From 590 s on callers wait.
      conduct: (now) => (now >= 300_000 && now < 580_000 ? 503 : 'well'),
      lifetimeMs: 600_000,
      lastsMs: 720_000,
    }),
    shows(recording: Recording) {
      expect(recording.failed).toBe(0)
      expect(hasSeries(recording, 'evergreen_renewal_failures_total')).toBe(true)
    },
  })),
  ...RARE_AND_BUSY.map((fleet) => ({
    title: `when ${fleetIn(fleet)}, are deployed anew, then no critical alert fires (F249)`,
    scene: sceneOf(fleet, { conduct: () => 'well', deployAt: FAULT_AT }),
    // Requests that arrive at a process while it ends.
    shows: (recording: Recording) => expect(hasSeries(recording, 'error_type="ERR_CLOSED"')).toBe(true),
  })),
]

/** The alerts over a recording, in the notation of promtool. */
function played({ title, scene, fires = () => false }: Case, recording: Recording, scrapeMs: number) {
  const instants = Array.from({ length: scene.lastsMs / scrapeMs + 1 }, (_, n) => n * scrapeMs)
  const alert_rule_test = instants.flatMap((at) =>
    CRITICAL.flatMap((alertname) => {
      const mustFire = alertname === 'EvergreenNoToken' ? fires(at, recording) : false
      const eval_time = `${at / 1_000}s`
      return mustFire === undefined ? [] : [{ eval_time, alertname, exp_alerts: mustFire ? [NO_TOKEN] : [] }]
    }),
  )
  return { name: title, interval: `${scrapeMs / 1_000}s`, input_series: recording.series, alert_rule_test }
}

;(isPromtoolThere() ? describe : describe.skip)(
  'given the alerts, and series that were recorded from the library (F249)',
  () => {
    const recordings = new Map<Case, Recording>()
    let complaints = ''
    beforeAll(async () => {
      for (const one of cases) recordings.set(one, await recorded(one.scene, SCRAPE_MS))
      const folder = mkdtempSync(join(tmpdir(), 'evergreen-alerts-'))
      // Many installations scrape once a minute. Starting promtool takes longer than playing a scene.
      for (const times of [1, 4]) {
        const scrapeMs = times * SCRAPE_MS
        const tests = cases.map((one) => played(one, thinned(recordings.get(one)!, times), scrapeMs))
        const rules = {
          rule_files: [resolve('docs/operations/alerts.yml')],
          evaluation_interval: `${scrapeMs / 1_000}s`,
        }
        const file = join(folder, 'recorded.json')
        writeFileSync(file, JSON.stringify({ ...rules, tests }))
        const { status, printed } = promtool('test', 'rules', file)
        if (status !== 0) complaints += `${times}: ${printed}`
      }
      rmSync(folder, { recursive: true })
    })

    it.each(cases)('$title', (one) => {
      one.shows(recordings.get(one)!)
      // Each complaint begins with the name of its scene.
      expect(complaints.split(/^ +name: /m).filter((text) => text.startsWith(`${one.title},`))).toEqual([])
    })

    it('when promtool has played all scenes, then it has no other complaint', () => {
      expect(complaints).toBe('')
    })
  },
)

import { Fleet, type Scene } from './fleet.ts'

/** A scene as Prometheus would store it. */
export interface Recording {
  /** In the notation of promtool. */
  readonly series: readonly { readonly series: string; readonly values: string }[]
  /** How many requests got a token, and how many did not. */
  readonly served: number
  readonly failed: number
  /** When the first request was made that failed without a later success, ms; undefined if the last request succeeded. */
  readonly failingSince: number | undefined
}

/** Whether there is a series whose name or labels hold `text`. */
export const hasSeries = ({ series }: Recording, text: string): boolean =>
  series.some(({ series: name }) => name.includes(text))

/** Plays a scene in virtual time, and scrapes each process as Prometheus would. */
export async function recorded(scene: Scene, scrapeMs: number): Promise<Recording> {
  const fleet = new Fleet(scene)
  const columns: Map<string, string>[] = []
  for (let now = 0; now <= scene.lastsMs; now += scrapeMs) {
    columns.push(samples(await fleet.scrape()))
    await fleet.clock.advance(scrapeMs)
  }
  const names = new Set(columns.flatMap((column) => [...column.keys()]))
  // Requests that wait for a hanging service end later than others that started after them.
  const asked = fleet.asked.sort((one, other) => one.at - other.at)
  const lastServed = asked.findLastIndex(({ isServed }) => isServed)
  return {
    series: [...names].map((series) => ({ series, values: valuesOf(series, columns) })),
    served: asked.filter(({ isServed }) => isServed).length,
    failed: asked.filter(({ isServed }) => !isServed).length,
    failingSince: asked[lastServed + 1]?.at,
  }
}

/** The same, scraped `times` as rarely. */
export function thinned(recording: Recording, times: number): Recording {
  const series = recording.series.map(({ series: name, values }) => {
    const kept = values.split(' ').filter((_, n) => n % times === 0)
    return { series: name, values: kept.join(' ') }
  })
  return { ...recording, series: series.filter(({ values }) => /\d/.test(values)) }
}

/** @returns The value of each series, by its name with the labels that Prometheus adds. */
function samples(scraped: Map<string, string>): Map<string, string> {
  const found = new Map<string, string>()
  for (const [instance, text] of scraped)
    for (const line of text.split('\n')) {
      const [, name, labels, value] = /^(evergreen_\w+)\{(.*)\} (\S+)$/.exec(line) ?? []
      // No rule under test reads the buckets of a histogram, and they are most of the series.
      if (name === undefined || value === undefined || name.endsWith('_bucket')) continue
      found.set(`${name}{job="payments",instance="${instance}",${labels ?? ''}}`, value)
    }
  return found
}

/** A process that has ended leaves markers, as Prometheus writes them. */
function valuesOf(series: string, columns: readonly Map<string, string>[]): string {
  const values = columns.map((column) => column.get(series))
  const last = values.findLastIndex((value) => value !== undefined)
  return values.map((value, n) => value ?? (n > last ? 'stale' : '_')).join(' ')
}

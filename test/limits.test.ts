import { describe, expect, it } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'

/** The limits of 0.3.0, KiB. A limit that falls falls here, too; one that rises stays here, and a line of the changelog explains it. */
const BASELINE: Readonly<Record<string, number>> = {
  everything: 46.3,
  'Variant A': 39.9,
  'Variant A in a page': 38.5,
  'login alone': 10.7,
  'clientCredentials alone': 11.6,
  'a service with oauth2': 53.7,
  'everything, and oauth2': 60.7,
  'a single-page application': 66.2,
  fetch: 30.7,
  mcp: 49.8,
  'dpop alone': 6.9,
  'web/inspector': 4.6,
  'a page whose manager lives in a worker': 16.5,
  'exposeTokens alone': 2.8,
}

/** What is not released yet, then the releases, the newest first. */
const CHANGES = [
  ...readdirSync('.changeset').flatMap((name) => (name.endsWith('.md') ? `.changeset/${name}` : [])),
  'CHANGELOG.md',
].map((path) => readFileSync(path, 'utf8'))

/** @returns The limits of these changes by name, KiB: `The limit of "fetch" rises to 30.8 KiB for users of Safari: its streams are read as text.` */
function raisesIn(changes: readonly string[]): Record<string, number> {
  const lines = changes.flatMap((text) => [
    ...text.matchAll(/The limit of "([^"]+)" rises to ([\d.]+) KiB for [^:\n]{3,}: \S[^\n]{10,}/g),
  ])
  return Object.fromEntries(lines.reverse().map(([, name, kib]) => [name!, Number(kib)]))
}

describe('given the limits of .size-limit.json', () => {
  const rows = JSON.parse(readFileSync('.size-limit.json', 'utf8')) as { name: string; limit: string; goal?: string }[]

  it('when one has risen, then a line of the changelog tells for whom and for what', () => {
    expect(Object.fromEntries(rows.map(({ name, limit }) => [name, parseFloat(limit)]))).toEqual({
      ...BASELINE,
      ...raisesIn(CHANGES),
    })
  })

  it('when a goal stands beside one, then it is not above it', () => {
    expect(rows.filter(({ limit, goal = '0' }) => parseFloat(goal) > parseFloat(limit))).toEqual([])
  })

  it.each([
    [
      'a reason and users',
      'The limit of "fetch" rises to 30.8 KiB for users of Safari: it reads streams as text.',
      30.8,
    ],
    ['no users', 'The limit of "fetch" rises to 30.8 KiB: Safari has other streams.', undefined],
    ['no reason', 'The limit of "fetch" rises to 30.8 KiB for users of Safari.', undefined],
  ])('when a line of the changelog has %s, then it counts, or it does not', (_, line, kib) => {
    expect(raisesIn([line]).fetch).toBe(kib)
    expect(raisesIn([line, 'The limit of "fetch" rises to 30 KiB for all users: an earlier reason.']).fetch).toBe(
      kib ?? 30,
    )
  })
})

import { describe, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'

/** @returns The output of the script, as JSON. It runs outside of Jest, because the bench is not compiled. */
function told(script: string): unknown {
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script]).toString())
}

const WORLD = `
  import { inspect } from 'node:util'
  import { create, floorOver } from './bench/contestants/floor.mjs'
  import { BASE_URL, checking } from './bench/lib/in-process-api.mjs'
  let calls = 0
  const obtain = async () => ({ accessToken: 'secret-' + ++calls, lifetimeMs: 3_600_000 })
  let refused = ''
  const isGood = (header) => header?.startsWith('Bearer secret-') && header !== refused`
const PLAYED = `
  const cold = await Promise.all([get('/a'), get('/b')])
  const afterCold = calls
  refused = 'Bearer secret-1'
  const replayed = await Promise.all([get('/a'), get('/b'), get('/c')])
  const statuses = [...cold, ...replayed].map(({ status }) => status)`

describe('given the floor of the bench', () => {
  it('when callers find no token and then a rejected one, then each time they share one renewal, and all get a token', () => {
    const script = `${WORLD}
      const { get } = await create({ instance: checking(isGood), baseUrl: BASE_URL, obtain, lifetimeMs: 3_600_000 })
      ${PLAYED}
      console.log(JSON.stringify({ afterCold, calls, statuses, isSeen: inspect(replayed, { depth: 9 }).includes('secret') }))`
    expect(told(script)).toEqual({ afterCold: 1, calls: 2, statuses: [200, 200, 200, 200, 200], isSeen: false })
  })

  it('when it wraps fetch, then it does the same', () => {
    const script = `${WORLD}
      const fetch = async (_, { headers }) => new Response(null, { status: isGood(headers.Authorization) ? 200 : 401 })
      const wrapped = floorOver(fetch, BASE_URL, obtain)
      const get = (path) => wrapped(BASE_URL + path)
      ${PLAYED}
      console.log(JSON.stringify({ afterCold, calls, statuses }))`
    expect(told(script)).toEqual({ afterCold: 1, calls: 2, statuses: [200, 200, 200, 200, 200] })
  })

  it('when another contestant is compared with it, then only what both add to the reference counts', () => {
    const laps = (ns: number) => ({ laps: Array.from({ length: 20 }, () => ({ ns })) })
    const run = (ours: number) => [{ reference: laps(1_000), floor: laps(1_400), ours: laps(ours) }]
    const runs = JSON.stringify([run(1_600), run(1_800), run(2_200)])
    const script = `
      import { compareAdded } from './bench/lib/rounds.mjs'
      console.log(JSON.stringify(compareAdded(${runs}, 'ns', 'reference', 'floor')))`
    expect(told(script)).toEqual({
      reference: { median: 0, low: 0, high: 0, value: 0 },
      floor: { median: 1, low: 1, high: 1, value: 400 },
      ours: { median: 2, low: 1.5, high: 3, value: 800 },
    })
  })
})

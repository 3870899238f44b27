import { describe, expect, it } from '@jest/globals'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { webStore } from '../../src/web/index.ts'
import { withActs } from '../support/with-acts.ts'
import { indexedDbOfSuite } from '../support/indexed-db-of-suite.ts'

const DAY_MS = 86_400_000
const PAIR = { accessToken: 'access-1', accessLifetimeMs: 60_000, accessRemainingMs: 60_000, refreshToken: 'refresh-1' }
const reports = { anomaly: () => undefined, storeUnavailable: () => undefined }

const storage = indexedDbOfSuite()

const record = (account: string) =>
  withActs((webStore() as OpenableStore).open(account, manualClock(), reports), manualClock())
const entries = () => [...storage.databases.get('axios-evergreen')!.values()] as { until: number }[]

describe('given tokens of users who no longer use a browser', () => {
  it('when another user logs in after they have expired, then they are deleted, and valid ones stay', async () => {
    const gone = { ...PAIR, refreshRemainingMs: DAY_MS }
    await record('alice').adopt(0, gone)
    await record('bob').adopt(0, { ...PAIR, refreshRemainingMs: 30 * DAY_MS })
    expect(entries()).toHaveLength(2)
    const [{ until: endOfAlice }] = entries() as [{ until: number }]
    // What expires at this moment has expired.
    Date.now = () => endOfAlice
    await record('carol').adopt(0, gone)
    expect(entries().map(({ until }) => until > endOfAlice)).toEqual([true, true])
    expect(await record('alice').check?.(0)).toMatchObject({ kind: 'missing' })
    expect(await record('bob').check?.(0)).toMatchObject({ kind: 'newer' })
  })

  it('when another script has stored a value there, then it is deleted too', async () => {
    await record('alice').adopt(0, PAIR)
    storage.databases.get('axios-evergreen')!.set('other', 'a text')
    await record('alice').clear(0)
    expect(entries()).toHaveLength(1)
  })
})

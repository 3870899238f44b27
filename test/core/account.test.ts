import { expect, it } from '@jest/globals'
import { Account, settingsOf } from '../../src/core/account.ts'
import { CREDENTIAL_RULES } from '../../src/core/credential-rules.ts'
import { Machine } from '../../src/core/machine.ts'
import { PLAIN } from '../../src/core/plain-login.ts'
import { toTokenError } from '../../src/wire/to-token-error.ts'

it('given a manager, when it renews, fails, adopts and is closed, then its account changes, and its settings are frozen', async () => {
  let calls = 0
  const obtain = () => {
    calls += 1
    return calls === 2
      ? Promise.reject(new Error('once'))
      : Promise.resolve({ accessToken: `token${calls}`, accessLifetimeMs: 60_000 })
  }
  const settings = settingsOf({ source: { id: '', obtain }, retry: { maxAttempts: 1 } }, toTokenError, PLAIN)
  const account = new Account(settings)
  const machine = new Machine(account)
  expect([settings, settings.retry, settings.renewal, settings.source].map(Object.isFrozen)).toEqual([
    true,
    true,
    true,
    false,
  ])
  const before = { ...settings }

  machine.renew('cold')
  await account.work.ended()
  expect(account.current?.stored.accessToken).toBe('token1')
  machine.renew('forced')
  await account.work.ended()
  expect(account.backoff?.failures).toBe(1)
  expect(account.counts).toEqual({ obtains: 2, refreshes: 0, adoptions: 0, failures: 1 })
  await machine.logins.adopt({ accessToken: 'given', accessLifetimeMs: 60_000 })
  expect(account.current?.stored.accessToken).toBe('given')
  await machine.close()

  expect(account).toMatchObject({ isClosed: true, current: undefined })
  expect(settings).toEqual(before)
  expect(settings.rules).toBe(CREDENTIAL_RULES)
})

import { describe, expect, it } from '@jest/globals'
import { headOf, lineOf } from '../../src/inspector/head.ts'
import { RED } from '../../src/inspector/dots.ts'
import { TokenError } from '../../src/index.ts'

const counts = { obtains: 1, refreshes: 1, adoptions: 2, failures: 0, suspicions: 1 }

describe('given the status of a manager (F247)', () => {
  it('when a count is one, then its text is singular', () => {
    const { counts: text } = headOf({ phase: 'empty', renewing: false, counts }, undefined, 0)
    expect(text).toBe('1 obtain · 1 refresh · 2 adoptions · 0 failures · 1 suspicion')
  })

  it('when a login is required, then the status says so, although an access token is still valid', () => {
    const status = { phase: 'fresh', renewing: false, accessExpiresAt: 30_000, counts, lastError: 'ERR_LOGIN_REQUIRED' }
    const head = headOf(
      { ...status, login: 'required', loginReason: 'refused' } as never,
      { expiresAt: 30_000, at: 0 },
      10_000,
    )
    expect(head).toMatchObject({ title: 'login required · refused', color: RED, share: 0 })
  })
})

describe('given an event (F247)', () => {
  it.each([
    [
      'renewed',
      { by: 'refresh', because: 'due', durationMs: 12.4 },
      'renewed: by refresh, because due, duration 12 ms',
    ],
    ['renewed', { accessExpiresAt: 0 }, `renewed: access expires at ${new Date(0).toLocaleTimeString()}`],
    ['retry', { attempt: 1 }, 'tried again: attempt 1'],
    ['suspicious', { severity: 'low' }, 'suspicious: severity low'],
    ['loginChanged', { login: 'required', by: 'elsewhere' }, 'login changed: login required, by elsewhere'],
    [
      'renewalFailed',
      { nextAttemptAt: Infinity, error: new TokenError('ERR_LOGIN_REQUIRED', 'A login is required') },
      'renewal failed: no next attempt, ERR_LOGIN_REQUIRED: A login is required',
    ],
  ] as const)('when it is %s %j, then its text is right', (name, event, line) => {
    expect(lineOf(name, event)).toBe(line)
  })
})

import { describe, expect, it } from '@jest/globals'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

describe('given an API that rejects the token', () => {
  it('when it is replaced, then a different one is returned, by one renewal for all callers', async () => {
    const { source, tokens, observed } = manage()
    const refused = await tokens.getAccessToken()
    const replaced = await Promise.all(Array.from({ length: 20 }, () => tokens.replaceAccessToken(refused)))
    expect([new Set(replaced), source.calls.length]).toEqual([new Set(['access-2']), 2])
    expect(observed.renewed.at(-1)).toMatchObject({ because: 'refused' })
  })

  it('when a late 401 arrives for a token that was already replaced, then it costs no request (P9)', async () => {
    const { source, tokens } = manage()
    const refused = await tokens.getAccessToken()
    await tokens.renew()
    expect(await tokens.replaceAccessToken(refused)).toBe('access-2')
    expect(source.calls).toHaveLength(2)
  })

  it.each(['Bearer access-1', 'bearer access-1', 'DPoP access-1'])(
    'when the text of the header %s is given, then an error reports it, because the rejected token would come back',
    async (header) => {
      const { source, tokens } = manage()
      await tokens.getAccessToken()
      expect(await outcome(tokens.replaceAccessToken(header))).toEqual(
        new TypeError('refused must be the access token itself, not a header value'),
      )
      expect(source.calls).toHaveLength(1)
    },
  )

  it('when there is no token at all, then one is obtained', async () => {
    const { tokens } = manage()
    expect(await tokens.replaceAccessToken('of an earlier life')).toBe('access-1')
  })

  it.each([
    [60_000, 6_000],
    [10_000, 2_000],
    [600_000, 60_000],
  ])('when tokens live %i ms, then forced renewals are %i ms apart (P5)', async (lifetimeMs, gapMs) => {
    const { clock, source, tokens } = manage(new ScriptedSource({ lifetimeMs }))
    const second = await tokens.replaceAccessToken(await tokens.getAccessToken())
    const retryAt = clock.wallNow() + gapMs
    await clock.advance(gapMs - 1)
    expect(await outcome(tokens.replaceAccessToken(second))).toMatchObject({
      code: 'ERR_REPLACED_TOO_SOON',
      retryAt,
      retryable: true,
    })
    await clock.advance(1)
    expect(await tokens.replaceAccessToken(second)).toBe('access-3')
    expect(source.calls).toHaveLength(3)
  })

  it('when the forced renewal failed, then the next one waits for its cool-down, and not for a tenth of the lifetime', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ lifetimeMs: 3_600_000 }), {
      retry: { maxAttempts: 1 },
    })
    const refused = await tokens.getAccessToken()
    source.script.push(failing(503))
    const retryAt = clock.wallNow() + 5_000
    expect(await outcome(tokens.replaceAccessToken(refused))).toMatchObject({ retryAt })
    await clock.advance(5_000)
    expect(await tokens.replaceAccessToken(refused)).toBe('access-2')
  })

  it('when a token is rejected right after a renewal that was not forced, then it is replaced', async () => {
    const { tokens } = manage()
    await tokens.renew()
    expect(await tokens.replaceAccessToken('access-1')).toBe('access-2')
  })

  it('when a renewal is in flight, then the 401 joins it, gap or no gap', async () => {
    const { source, tokens } = manage()
    const second = await tokens.replaceAccessToken(await tokens.getAccessToken())
    const late = held(() => source.grant())
    source.script.push(late.answer)
    const waits = [tokens.renew(), tokens.replaceAccessToken(second)]
    await settle()
    late.open()
    expect(await Promise.all(waits)).toEqual([undefined, 'access-3'])
    expect(source.calls).toHaveLength(3)
  })

  it('when the rejected token has expired anyway, then the gap does not apply', async () => {
    const { clock, tokens } = manage(new ScriptedSource(), { renewal: { hardSkewMs: 15_000, keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(44_000)
    const second = await tokens.replaceAccessToken('access-1')
    await clock.advance(45_000)
    expect(await tokens.replaceAccessToken(second)).toBe('access-3')
  })

  it('when the renewal fails, then so does the replacement, although the rejected token has not expired', async () => {
    const { source, tokens } = manage()
    const refused = await tokens.getAccessToken()
    source.script.push(failing(400))
    expect(await outcome(tokens.replaceAccessToken(refused))).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(await outcome(tokens.replaceAccessToken(refused))).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(await tokens.getAccessToken()).toBe(refused)
    expect(source.calls).toHaveLength(2)
  })

  it('when the service issues the same token again, then that is not a replacement', async () => {
    const { source, tokens } = manage()
    const refused = await tokens.getAccessToken()
    source.script.push(() => source.grant({ accessToken: refused }))
    expect(await outcome(tokens.replaceAccessToken(refused))).toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
  })

  it('when it rejects every token for ten seconds, then at most six are obtained', async () => {
    const { clock, source, tokens } = manage()
    let surfaced = 0
    for (let call = 0; call < 1_000; call += 1) {
      const token = await tokens.getAccessToken()
      // The API rejects each new token, too.
      if ((await outcome(tokens.replaceAccessToken(token))) instanceof Error) surfaced += 1
      await clock.advance(10)
    }
    expect(source.calls.length).toBeLessThanOrEqual(6)
    expect(surfaced).toBe(1_000 - (source.calls.length - 1))
  })
})

describe('given a renewal that the user requests', () => {
  it('when renew is called, then it renews, however fresh the token and however often', async () => {
    const { source, tokens, observed } = manage()
    await tokens.renew()
    await tokens.renew()
    await tokens.renew()
    expect([source.calls.length, tokens.peekAccessToken()]).toEqual([3, 'access-3'])
    expect(observed.renewed.map((event) => event.because)).toEqual(['forced', 'forced', 'forced'])
  })

  it('when it is called twice at once, then both share one renewal', async () => {
    const { source, tokens } = manage()
    await Promise.all([tokens.renew(), tokens.renew()])
    expect(source.calls).toHaveLength(1)
  })

  it('when it fails, then it rejects, although the old token is still valid', async () => {
    const { source, tokens } = manage()
    await tokens.getAccessToken()
    source.script.push(failing(404))
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_TOKEN_REQUEST' })
    expect(tokens.peekAccessToken()).toBe('access-1')
  })
})

import { describe, expect, it } from '@jest/globals'
import type { TokenSource } from '../../src/index.ts'
import { failing, failingWith, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const lost = failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown')
const presented = (source: ScriptedSource) => source.calls.map(({ kind, refreshToken }) => refreshToken ?? kind)

/** A manager with a token set. @param terms How the service treats used refresh tokens. */
async function holdingPair(terms: Pick<TokenSource, 'refreshTokens' | 'reuseGraceMs'>) {
  const managed = manage(Object.assign(new ScriptedSource({ pairs: true }), terms))
  await managed.tokens.getAccessToken()
  await managed.clock.advance(10_000)
  return managed
}

describe('given refresh tokens that stay valid when they are used', () => {
  const reusable = () => holdingPair({ refreshTokens: 'reusable' })

  it('when a response has no refresh token, then the old one stays, with its expiry (F158)', async () => {
    const { clock, source, tokens, observed } = await reusable()
    const bare = () => source.grant({ refreshToken: undefined } as never)
    source.script.push(bare, bare)
    await tokens.renew()
    const end = tokens.status().refreshExpiresAt
    await clock.advance(20_000)
    await tokens.renew()
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-1'])
    expect([tokens.status().refreshExpiresAt, observed.anomaly]).toEqual([end, []])
    expect(end).toBe(clock.wallNow() - 30_000 + 3_600_000)
  })

  it('when a response has another refresh token, then that one is used', async () => {
    const { source, tokens } = await reusable()
    await tokens.renew()
    await tokens.renew()
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-2'])
  })

  it('when an obtain returns none, then the one of an earlier session is not carried over', async () => {
    const { source, tokens } = await reusable()
    source.script.push(failing(400), () => source.grant({ refreshToken: undefined } as never))
    await tokens.renew()
    expect(tokens.status().refreshExpiresAt).toBeUndefined()
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'obtain'])
  })

  it('when responses are lost, or the service fails, then it is sent again', async () => {
    const { clock, source, tokens } = await reusable()
    source.script.push(lost, failing(503), lost)
    const renewed = tokens.renew()
    await clock.advance(30_000)
    await renewed
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-1', 'refresh-1', 'refresh-1'])
  })

  it('when it is adopted again during a refresh with it, then it is sent again', async () => {
    const { source, tokens } = await reusable()
    const late = held(() => source.grant())
    source.script.push(late.answer)
    const renewed = outcome(tokens.renew())
    await settle()
    await tokens.adopt({ accessToken: 'adopted', accessLifetimeMs: 60_000, refreshToken: 'refresh-1' })
    late.open()
    await renewed
    await settle()
    await tokens.renew()
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-1'])
  })

  it('when it is rejected, then it is never sent again', async () => {
    const { source, tokens, observed } = await reusable()
    source.script.push(failing(401))
    await tokens.renew()
    await settle()
    expect([presented(source), observed.suspicious.length]).toEqual([['obtain', 'refresh-1', 'obtain'], 1])
  })
})

describe('given a service that accepts a used refresh token for a while', () => {
  const graceful = () => holdingPair({ reuseGraceMs: 5_000 })

  it('when a response is lost, then it is sent again within that time', async () => {
    const { clock, source, tokens, observed } = await graceful()
    source.script.push(lost)
    const renewed = tokens.renew()
    await clock.advance(1_000)
    await renewed
    expect([presented(source), observed.suspicious]).toEqual([['obtain', 'refresh-1', 'refresh-1'], []])
  })

  it('when the responses are lost for longer, then the credentials follow', async () => {
    const { clock, source, tokens } = await graceful()
    source.takesMs = 2_000
    source.script.push(lost, lost, lost)
    const renewed = tokens.renew()
    await clock.advance(30_000)
    await renewed
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-1', 'refresh-1', 'obtain'])
  })

  it('when the service fails after the access token has expired, then it is sent again within that time', async () => {
    const { clock, source, tokens } = await graceful()
    await tokens.adopt({ accessToken: 'adopted', accessLifetimeMs: 5_000, refreshToken: 'refresh-1' })
    await clock.advance(5_000)
    source.script.push(failing(503), failing(503), failing(503))
    const token = tokens.getAccessToken()
    await clock.advance(4_000)
    await token
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-1', 'refresh-1', 'refresh-1'])
  })

  it('when the service fails, and asks for a pause longer than that time, then it is sent again after the pause', async () => {
    const { clock, source, tokens } = await graceful()
    source.script.push(failing(503, { retryAfterMs: 5_000 }))
    const renewed = tokens.renew()
    await clock.advance(10_000)
    await renewed
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-1'])
  })

  it('when it is rejected after a lost response, then that lost response explains it', async () => {
    const { clock, source, tokens, observed } = await graceful()
    source.script.push(lost, failing(401))
    const renewed = tokens.renew()
    await clock.advance(1_000)
    await renewed
    expect(observed.suspicious).toEqual([expect.objectContaining({ evidence: 'own-unknown-outcome', severity: 'low' })])
  })

  it('when it was accepted, then it is not sent again', async () => {
    const { source, tokens } = await graceful()
    await tokens.renew()
    await tokens.renew()
    expect(presented(source)).toEqual(['obtain', 'refresh-1', 'refresh-2'])
  })
})

describe('given an invalid policy for refresh tokens', () => {
  it.each([
    [{ refreshTokens: 'rotating' }, /source\.refreshTokens must be one of 'single-use', 'reusable'/],
    [{ reuseGraceMs: -1 }, /source\.reuseGraceMs/],
    [{ reuseGraceMs: '5' }, /source\.reuseGraceMs/],
  ])('when %j is given, then it is rejected', async (terms, message) => {
    await expect(outcome(holdingPair(terms as never))).resolves.toMatchObject({
      message: expect.stringMatching(message),
    })
  })
})

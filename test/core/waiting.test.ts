import { describe, expect, it } from '@jest/globals'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

const slow = () => new ScriptedSource({ takesMs: 1_000 })

describe('given no token yet', () => {
  it('10 000 cold callers (F93)', async () => {
    const { source, tokens } = manage()
    const got = await Promise.all(Array.from({ length: 10_000 }, () => tokens.getAccessToken()))
    expect([new Set(got).size, source.calls.length]).toEqual([1, 1])
  })

  it('when a caller peeks, then there is nothing and no request is made', async () => {
    const { source, tokens } = manage()
    expect(tokens.peekAccessToken()).toBeUndefined()
    await settle()
    expect(source.calls).toHaveLength(0)
  })

  it('first of ten waiters aborts (F94)', async () => {
    const { clock, source, tokens } = manage(slow())
    const controller = new AbortController()
    const first = outcome(tokens.getAccessToken({ signal: controller.signal }))
    const others = Array.from({ length: 9 }, () => tokens.getAccessToken())
    await settle()
    const reason = new Error('the user went away')
    let ended: unknown
    void first.then((error) => (ended = error))
    controller.abort(reason)
    await settle() // no time passes, because the clock stands still
    expect(ended).toBe(reason)
    await clock.advance(1_000)
    expect(await Promise.all(others)).toEqual(Array(9).fill('access-1'))
    expect(source.calls).toHaveLength(1)
  })

  it('when all waiters abort, then the exchange completes and its token is kept (F95)', async () => {
    const { clock, source, tokens } = manage(slow())
    const controller = new AbortController()
    const waits = [1, 2].map(() => outcome(tokens.getAccessToken({ signal: controller.signal })))
    await settle()
    controller.abort()
    expect(await Promise.all(waits)).toMatchObject([{ name: 'AbortError' }, { name: 'AbortError' }])
    expect(source.calls[0]!.signal.aborted).toBe(false)
    await clock.advance(1_000)
    expect(tokens.peekAccessToken()).toBe('access-1')
  })

  it('when a caller aborts by a signal of a polyfill, as in React Native, then its wait ends, and the others get their token (F94)', async () => {
    const { clock, tokens } = manage(slow())
    const polyfill = Object.assign(new EventTarget(), { aborted: false })
    const options = { signal: polyfill as never }
    const waits = [tokens.getAccessToken(options), tokens.renew(options), tokens.replaceAccessToken('any', options)]
    const ends = Promise.all(waits.map((wait) => outcome<unknown>(wait)))
    const other = tokens.getAccessToken()
    await settle()
    polyfill.aborted = true
    polyfill.dispatchEvent(new Event('abort'))
    expect(await ends).toEqual(Array(3).fill(expect.objectContaining({ name: 'AbortError' })))
    expect(await outcome(tokens.getAccessToken(options))).toMatchObject({ name: 'AbortError' })
    await clock.advance(1_000)
    expect(await other).toBe('access-1')
  })

  it.each([{}, 'a string', new AbortController()])(
    'when the signal is invalid, then the error names the option (%p)',
    async (signal) => {
      const { source, tokens } = manage()
      const error = await outcome(tokens.getAccessToken({ signal: signal as never }))
      expect(error).toMatchObject({
        name: 'TypeError',
        message: expect.stringMatching(/^signal must be an AbortSignal/),
      })
      expect(source.calls).toHaveLength(0)
    },
  )

  it('when a caller arrives with an aborted signal, then no request is made, whichever method it calls (F96)', async () => {
    const { source, tokens } = manage()
    const signal = AbortSignal.abort('no')
    const asks = [
      tokens.getAccessToken({ signal }),
      tokens.replaceAccessToken('any', { signal }),
      tokens.renew({ signal }),
    ]
    expect(await Promise.all(asks.map((ask) => outcome<unknown>(ask)))).toEqual(['no', 'no', 'no'])
    expect(source.calls).toHaveLength(0)
  })

  it.each([
    ['the manager’s', { renewal: { maxWaitMs: 400 } }, {}, 400],
    ['the caller’s own', {}, { maxWaitMs: 400 }, 400],
    ['capped by the manager’s', { renewal: { maxWaitMs: 400 } }, { maxWaitMs: 900 }, 400],
  ])(
    'when the limit passes (%s), then the caller fails and the token still arrives',
    async (_, options, wait, limitMs) => {
      const { clock, tokens } = manage(slow(), options)
      const waiting = outcome(tokens.getAccessToken(wait))
      let ended = false
      void waiting.then(() => (ended = true))
      await clock.advance(limitMs - 1)
      expect(ended).toBe(false)
      await clock.advance(1)
      expect(await waiting).toMatchObject({ code: 'ERR_WAIT_TIMEOUT', retryable: true })
      await clock.advance(1_000)
      expect(tokens.peekAccessToken()).toBe('access-1')
    },
  )

  it('when a caller’s limit is not a duration, then the error reports it', async () => {
    const { tokens } = manage()
    await expect(tokens.getAccessToken({ maxWaitMs: NaN })).rejects.toThrow(/maxWaitMs .*NaN/)
  })

  it('when a caller waits, then its limit keeps the process alive; with a valid token, nothing does', async () => {
    const clock = watchedClock()
    const { tokens } = manage(slow(), {}, clock)
    const waiting = tokens.getAccessToken()
    await settle()
    expect(clock.holding).toBe(1)
    await clock.advance(1_000)
    await waiting
    expect([clock.holding, clock.pendingTimers]).toEqual([0, 1])
  })
})

describe('given a token in its hard window', () => {
  const inHardWindow = async () => {
    const world = manage(new ScriptedSource(), { renewal: { keepWarm: 'never' } })
    await world.tokens.getAccessToken()
    const { answer, open } = held(() => world.source.grant())
    world.source.script.push(answer)
    await world.clock.advance(57_000)
    expect(world.tokens.status().phase).toBe('expired')
    return { ...world, open }
  }

  it('when the renewal comes in time, then the caller gets the new token', async () => {
    const { tokens, open } = await inHardWindow()
    const waiting = tokens.getAccessToken()
    await settle()
    open()
    expect(await waiting).toBe('access-2')
  })

  it('when it does not, then at a third of the window the caller gets the old one', async () => {
    const { clock, tokens } = await inHardWindow()
    const waiting = tokens.getAccessToken()
    let got: string | undefined
    void waiting.then((token) => (got = token))
    await clock.advance(1_999)
    expect(got).toBeUndefined()
    await clock.advance(1)
    expect(await waiting).toBe('access-1')
  })

  it('when a third of the window is left, then the caller gets the old one at once, until it expires', async () => {
    const { clock, source, tokens, open } = await inHardWindow()
    await clock.advance(2_999)
    expect(await tokens.getAccessToken()).toBe('access-1')
    await settle()
    expect(source.calls).toHaveLength(2) // the renewal is in flight
    await clock.advance(1)
    const waiting = tokens.getAccessToken()
    await settle()
    open()
    expect(await waiting).toBe('access-2')
  })

  it('when the machine sleeps while a caller waits, then the caller keeps waiting for the new token', async () => {
    const { clock, tokens, open } = await inHardWindow()
    const waiting = tokens.getAccessToken()
    await settle()
    clock.stepWall(3_600_000)
    await clock.advance(5_000)
    open() // the manager requested this token before the sleep, so it counts as expired
    await clock.advance(1_000)
    expect(await waiting).toBe('access-3')
  })

  it('when the renewal fails, then no caller fails while the token is valid', async () => {
    const { source, tokens, clock } = await inHardWindow()
    source.script.splice(0, 1, failing(400))
    expect(await tokens.getAccessToken()).toBe('access-1')
    await clock.advance(2_999)
    expect(await tokens.getAccessToken()).toBe('access-1') // during the cool-down
    await clock.advance(1)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(source.calls).toHaveLength(2)
  })
})

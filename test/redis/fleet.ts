import { createHash } from 'node:crypto'
import { createTokenManager, type TokenError, type TokenManager, type TokenSource } from '../../src/index.ts'
import type { RecordState } from '../../src/record/record-shape.ts'
import { redisStore } from '../../src/redis/index.ts'
import { type Exchange, RotatingService, type Scripts } from '../properties/rotating-service.ts'
import { onClock } from '../support/redis-clock.ts'
import { settle, watchedClock, type WatchedClock } from '../support/watched-clock.ts'

export const PROCESSES = 3
const LIFETIMES = { accessMs: 60_000, refreshMs: 6 * 3_600_000 }
const MAX_WAIT_MS = 30_000

export type Act =
  | { act: 'ask' | 'replace' | 'renew' | 'kill' | 'freeze' | 'thaw'; process: number }
  | { act: 'refuse' | 'lose'; process: number; times: number }
  | { act: 'advance'; ms: number }
  | { act: 'flush' | 'script flush' }

const fingerprintOf = (refreshToken: string) => createHash('sha256').update(refreshToken).digest('hex').slice(0, 8)

type Send = (args: string[]) => Promise<unknown>

/** Counts the commands in flight: virtual time stands still until Redis has replied. */
class Traffic {
  inFlight = 0

  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    this.inFlight += 1
    return work().finally(() => (this.inFlight -= 1))
  }
}

/** One process: a manager on the shared record. A test may cut its connection, or end it. */
class Process {
  readonly tokens: TokenManager
  /** How many commands Redis will not get, and how many replies will be lost. */
  refuse = 0
  lose = 0
  /** Fingerprint of the refresh token that this process was granted, and refresh tokens that it obtained privately. */
  #granted: string | undefined
  #isPrivate = false
  readonly #own = new Set<string>()
  #thaw: (() => void) | undefined
  #frozen: Promise<void> | undefined
  #isDead = false
  readonly #broken: string[]

  constructor(
    fleet: { clock: WatchedClock; service: RotatingService; broken: string[] },
    send: Send,
    prefix: string,
    traffic: Traffic,
  ) {
    const { clock, service } = fleet
    this.#broken = fleet.broken
    const command: Send = async (args) => {
      await this.#alive()
      const reply = traffic.run(() => this.#deliver(send, args))
      return reply.then(async (value) => {
        await this.#alive()
        this.#learn(args, value)
        return value
      })
    }
    const source: TokenSource = {
      id: 'account',
      obtain: (context) => this.#exchanged(service.obtain(context)),
      refresh: (refreshToken, context) => {
        this.#presents(refreshToken)
        return this.#exchanged(service.refresh!(refreshToken, context))
      },
    }
    const store = redisStore({ client: onClock(command, clock), prefix })
    this.tokens = createTokenManager({ source, store, clock, random: () => 0.5 })
  }

  kill(): void {
    this.#isDead = true
  }

  freeze(): void {
    this.#frozen ??= new Promise((resolve) => (this.#thaw = resolve))
  }

  thaw(): void {
    this.#thaw?.()
    this.#thaw = this.#frozen = undefined
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Never resolves for a dead process; for a frozen one, resolves when it thaws. */
  async #alive(): Promise<void> {
    if (this.#isDead) await new Promise<never>(() => undefined)
    await this.#frozen
    if (this.#isDead) await new Promise<never>(() => undefined)
  }

  async #deliver(send: Send, args: string[]): Promise<unknown> {
    if (args[0] === 'EVALSHA') return send(args)
    if (this.refuse > 0) {
      this.refuse -= 1
      this.#granted = undefined
      this.#isPrivate = true
      throw new Error('refused')
    }
    const reply = await send(args)
    if (this.lose === 0) return reply
    this.lose -= 1
    this.#granted = undefined
    this.#isPrivate = true
    throw new Error('lost')
  }

  /** Reads a state that this process has stored: the exchange is granted to it, with the refresh token in that state. */
  #learn([, , , , text, , , before]: string[], reply: unknown): void {
    if (text === undefined || Number(reply) !== 1) return
    const { lease, tokens } = stateIn(text)
    // The previous lease may belong to another process.
    if (lease && lease.fence === (before ? stateIn(before).lease?.fence : undefined) && !lease.settled) return
    const isGranted = lease !== undefined && !lease.settled && tokens?.refreshToken !== undefined && !tokens.retired
    this.#granted = isGranted ? fingerprintOf(tokens.refreshToken) : undefined
    if (lease) this.#isPrivate = false
  }

  #presents(refreshToken: string): void {
    if (this.#granted !== fingerprintOf(refreshToken) && !this.#own.has(refreshToken))
      this.#broken.push('a refresh token is presented without a grant (I2, I11)')
  }

  async #exchanged<Value extends { refreshToken?: string }>(exchange: Promise<Value>): Promise<Value> {
    const isPrivate = this.#isPrivate
    const grant = await exchange.catch(async (error: unknown) => {
      await this.#alive()
      throw error
    })
    await this.#alive()
    if (isPrivate && grant.refreshToken !== undefined) this.#own.add(grant.refreshToken)
    return grant
  }
}

const stateIn = (text: string) => JSON.parse((JSON.parse(text) as { box: string }).box) as RecordState

/** Processes that share one record and one account, in virtual time. `broken` collects their broken promises. */
export class Fleet {
  readonly clock = watchedClock()
  readonly broken: string[] = []
  readonly service: RotatingService
  readonly #send: Send
  readonly #prefix: string
  readonly #traffic = new Traffic()
  readonly #processes: Process[] = []
  readonly #suspicious = new Map<string, number>()
  #waiting = 0
  #exchanging = 0
  /** The record was lost, so no process can recognize an innocent rejection any more. */
  #lost = false
  /** Redis did not always reply, so two processes may report the same rejection. */
  #cut = false
  /** A process was frozen, so its lease may have expired since. */
  #stalled = false

  constructor(send: Send, prefix: string, scripts: Scripts) {
    this.#send = send
    this.#prefix = prefix
    const witness = {
      began: (exchange: Exchange) => this.#began(exchange),
      ended: () => (this.#exchanging -= 1),
    }
    this.service = new RotatingService(
      { pairs: true, lifetimes: LIFETIMES, scripts },
      this.clock,
      () => this.clock.monotonicNow(),
      witness,
    )
    for (let n = 0; n < PROCESSES; n += 1) this.#start(n)
  }

  async perform(act: Act): Promise<void> {
    await this.#act(act)
    await this.#turn()
  }

  /** When everything is healthy, all living processes, and those that replace dead ones, get a token. */
  async recover(): Promise<void> {
    this.service.heal()
    for (const [n, process] of this.#processes.entries()) {
      process.thaw()
      process.refuse = process.lose = 0
      if (process.isDead) this.#start(n)
    }
    await this.#advance(90_000)
    if (this.#waiting > 0) this.broken.push('a caller waits for ever (I10)')
    let served = 0
    for (const process of this.#processes) {
      const ask = () => process.tokens.getAccessToken()
      // The first request may meet an earlier cool-down.
      ask()
        .catch(async (error: unknown) => {
          const { retryAt = 0 } = error as TokenError
          await new Promise<void>((resolve) => this.clock.setTimer(resolve, retryAt - this.clock.wallNow()))
          return ask()
        })
        .then(
          () => (served += 1),
          (error: unknown) => this.broken.push(`a process is not served in the end: ${String(error)}`),
        )
    }
    await this.#advance(2 * MAX_WAIT_MS)
    if (served < PROCESSES) this.broken.push('a process has no token in the end')
    this.#check()
  }

  async end(): Promise<void> {
    for (const process of this.#processes) process.kill()
    await settle()
  }

  #start(n: number): void {
    const process = new Process(this, this.#send, this.#prefix, this.#traffic)
    this.#processes[n] = process
    process.tokens.on('suspicious', ({ fingerprint, evidence }) => {
      if (process.isDead) return
      const times = (this.#suspicious.get(fingerprint) ?? 0) + 1
      this.#suspicious.set(fingerprint, times)
      if (times > 1 && !this.#cut) this.broken.push('a refresh token is suspected twice (I7)')
      const stolen = [...this.service.issuedRefreshTokens].some(
        ([token, issued]) => issued.stolen && fingerprintOf(token) === fingerprint,
      )
      if (evidence === 'unexplained' && !stolen && !this.#lost)
        this.broken.push('an innocent refusal is unexplained (I7)')
    })
  }

  async #act(act: Act): Promise<void> {
    switch (act.act) {
      case 'advance':
        return this.#advance(act.ms)
      case 'flush':
        this.#lost = true
        return void (await this.#send(['FLUSHALL']))
      case 'script flush':
        return void (await this.#send(['SCRIPT', 'FLUSH']))
    }
    const process = this.#processes[act.process]!
    switch (act.act) {
      case 'ask':
        this.#ask(process)
        return
      case 'renew':
        return void process.tokens.renew().catch(() => undefined)
      case 'replace': {
        const token = process.tokens.peekAccessToken()
        if (token !== undefined) void process.tokens.replaceAccessToken(token).catch(() => undefined)
        return
      }
      case 'refuse':
      case 'lose':
        this.#cut = true
        process[act.act] += act.times
        break
      default:
        this.#stalled = true
        process[act.act]()
    }
  }

  #ask(process: Process): void {
    const askedAt = this.clock.monotonicNow()
    const held = process.tokens.peekAccessToken()
    this.#waiting += 1
    const left = () => {
      this.#waiting -= 1
      const waitedMs = this.clock.monotonicNow() - askedAt
      if (held !== undefined && waitedMs > 0) this.broken.push('a caller waits although its token serves (I9)')
      if (waitedMs > MAX_WAIT_MS) this.broken.push('a caller waits too long (I10)')
    }
    process.tokens.getAccessToken().then(left, left)
  }

  #began({ refreshToken }: Exchange): void {
    this.#exchanging += 1
    if (this.#exchanging > 1 && !this.#lost && !this.#cut && !this.#stalled)
      this.broken.push('two processes renew at once')
    const earlier = this.service.issuedRefreshTokens.get(refreshToken ?? '')?.presentations ?? []
    if (earlier.some(({ end }) => !end)) this.broken.push('a refresh token is presented while it is out (I1)')
    const spent = earlier.filter(({ end }) => end && (end.outcome === 'unknown' || end.outcome === 'accepted'))
    const refused = earlier.filter(
      ({ end }) => end?.outcome === 'rejected' && (end.status === 400 || end.status === 401),
    )
    if (spent.length + refused.length > 0) this.broken.push('a spent refresh token is presented (I1, I5)')
    if (earlier.filter(({ end }) => end?.outcome === 'unknown-5xx').length > 2)
      this.broken.push('a refresh token is presented after three 5xx (I1)')
  }

  async #advance(ms: number): Promise<void> {
    // In steps, because Redis replies in real time: no timer may overtake a reply.
    const until = this.clock.monotonicNow() + ms
    while (this.clock.monotonicNow() < until) {
      await this.#turn()
      const next = Math.min(this.clock.nextTimerAt ?? until, until)
      await this.clock.advance(Math.max(0, next - this.clock.monotonicNow()))
    }
    await this.#turn()
  }

  /** Lets everything happen that needs no time. */
  async #turn(): Promise<void> {
    do await settle()
    while (this.#traffic.inFlight > 0)
    await settle()
    this.#check()
  }

  #check(): void {
    if (this.broken.length > 0) throw new Error([...new Set(this.broken)].join('\n'))
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { startService } from './service.mjs'
import { EXCHANGE_TIMEOUT_MS } from './verdict.mjs'

/** A limit against hanging, ms. This machine may be busy. */
const LIMIT_MS = 60_000
/** A tab may lose a response that was sent shortly before, ms. */
const ON_ITS_WAY_MS = 1_500

/** Two or three tabs share an account. One of them renews, and at a drawn moment of that renewal something happens. */
export class Round {
  tabs = []
  #isArmed = false
  #opened = 0

  constructor({ engine, dice, row, scripts }) {
    Object.assign(this, { engine, dice, row, scripts })
    const { lastsMs = [0, 500], lifetimeMs = [3_000, 6_000] } = row
    /** Either a login, which cannot be repeated, or an account that may obtain. */
    this.isLogin = dice.happens(0.5)
    this.moment = dice.oneOf(['read', 'acted', 'sent'])
    this.lastsMs = dice.whole(...lastsMs)
    this.lifetimeMs = dice.whole(...lifetimeMs)
    this.count = dice.whole(2, 3)
    this.opensLater = dice.happens(0.5)
  }

  async run() {
    const options = { exchangeTimeoutMs: EXCHANGE_TIMEOUT_MS, ...(this.isLogin && { byLogin: {} }) }
    const { scripts, lifetimeMs } = this
    this.service = await startService({ scripts, options, lifetimeMs, passes: (...at) => this.#passes(...at) })
    try {
      const first = await this.open()
      if (this.isLogin) await first.driver.evaluate('app.logIn().then(() => undefined)')
      while (this.tabs.length < this.count) await this.open()
      const isServed = ({ id }) => this.#heard(id)?.status === 200
      await this.#until(() => this.tabs.every((tab) => isServed(tab) || (this.row.isApart && tab !== first)))
      const calm = new Promise((resolve) => (this.calm = resolve))
      this.armedAt = performance.now()
      this.#isArmed = true
      if (this.row.hasWorker) await first.driver.evaluate('work()')
      await Promise.race([calm, pause(LIMIT_MS, undefined, { ref: false })])
      if (this.calmAt === undefined) throw new Error(`Nothing happened: no tab renewed`)
      if (this.opensLater) await this.open()
      await this.#until(() => this.tabs.every((tab) => this.#isSettled(tab)))
    } catch (error) {
      this.trouble = error
    } finally {
      await Promise.all(this.tabs.map((tab) => this.close(tab)))
      this.service.close()
    }
    return this
  }

  async open() {
    const tab = { id: (this.#opened += 1) }
    tab.driver = await this.engine.open(`${this.service.origin}/tab?tab=${tab.id}`)
    this.tabs.push(tab)
    await this.#until(() => this.service.reports.some((one) => one.tab === tab.id && one.began))
    return tab
  }

  async close(tab) {
    this.gone(tab)
    await within(5_000, tab.driver.close())
  }

  async discard(tab) {
    const front = await tab.driver.discard()
    while (await this.isAlive(tab)) await pause(50)
    this.gone(tab)
    void pause(2_000).then(() => within(5_000, front.close()))
  }

  gone(tab) {
    // The tab may have lived on for a moment.
    if (this.row.loses && this.calmAt === undefined)
      for (const call of this.#recent()) if (call.tab === tab.id) call.lost = this.row.loses
    this.tabs = this.tabs.filter((one) => one !== tab)
  }

  /** A tab that has crashed may show a page of its browser. */
  async isAlive({ driver }) {
    return (await within(5_000, driver.evaluate('Boolean(globalThis.app)'))) === true
  }

  /** The service has reached that moment of a refresh. The first time, it waits until the disturbance has begun, and a while longer. */
  async #passes(moment, call) {
    if (!this.#isArmed || moment !== this.moment) return
    if (this.row.hasWorker && call.tab < 100) return
    if (this.row.isApart && this.isLogin && call.tab !== 1) return
    this.#isArmed = false
    this.call = call
    call.isDropped = moment === 'read' && this.row.loses === 'always'
    if (moment === 'sent') await pause(this.dice.between(0, 30))
    try {
      await this.#disturb(call)
    } catch (error) {
      this.trouble = error
      this.calm()
    }
    await pause(this.row.actsMeanwhile ? this.lastsMs / 4 : this.dice.between(0, 1_500))
  }

  async #disturb(call) {
    const { row, dice } = this
    const renewing = this.tabs.find(({ id }) => id === call.tab) ?? this.tabs[0]
    const tab = row.who === 'beside' ? dice.oneOf(this.tabs.filter((one) => one !== renewing)) : renewing
    const isHit = (one) => row.who === 'all' || one.tab === (row.hasWorker ? call.tab : tab.id)
    const affected = [...this.#recent(), call].filter(isHit)
    if (row.loses) for (const one of affected) one.lost = row.loses
    await row.begin(this, tab)
    void pause(this.lastsMs).then(async () => {
      await row.end?.(this, tab)
      this.calmAt = performance.now()
      for (const one of affected) if (one.lost === 'meanwhile') one.lostUntil = this.calmAt
      this.calm()
    })
  }

  /** Calls whose responses may not have arrived. */
  #recent() {
    const before = performance.now() - ON_ITS_WAY_MS
    return this.service.calls.filter(({ sentAt = Infinity }) => sentAt > before)
  }

  #heard(id) {
    return this.service.heard.get(id)
  }

  /** The tab has a token that was issued since the end of the disturbance, or reports that a user must log in. */
  #isSettled({ id }) {
    const { status, n, code, at } = this.#heard(id) ?? {}
    if (code === 'ERR_LOGIN_REQUIRED') return at > this.calmAt
    return status === 200 && this.service.calls.some((call) => call.n === n && call.at > this.calmAt)
  }

  async #until(isTrue) {
    const endsAt = performance.now() + LIMIT_MS
    while (!isTrue()) {
      if (performance.now() > endsAt) {
        this.stuck = this.tabs.filter((tab) => !this.#isSettled(tab)).map(({ id }) => this.#heard(id) ?? id)
        return
      }
      await pause(50)
    }
  }
}

/** Undefined: the step has failed, or takes longer. */
const within = (ms, step) => Promise.race([step.catch(() => undefined), pause(ms, undefined, { ref: false })])

import { setTimeout as pause } from 'node:timers/promises'
import { DEEDS } from './deeds.mjs'
import { startService } from './service.mjs'
import { ON_ITS_WAY_MS, presentedAgain, reasonOfLogin } from './verdict.mjs'

/** A tab that reports nothing for this long is dead, or lost; a request that takes longer hangs, ms. */
const SILENT_MS = 10_000
const HANGS_MS = 30_000
/** The time within which other tabs know of a login, ms. It is long, because this machine may be busy, and a lost login is still missing later. */
const SPREADS_MS = 3_000
/** An engine that takes longer for a command is in trouble, ms. */
const COMMAND_MS = 20_000

/** One round: an engine, its tabs, and what happens to them. `run` returns the outcome. */
export class Round {
  tabs = new Map()
  /** What happened when, for the reader of a promise that was broken. */
  diary = []
  logins = []
  /** Since the last login: how often the storage was deleted, or full. */
  storageDeeds = 0
  isStorageFull = false
  isDeleting = false
  /** A page has reported that the IndexedDB of the engine no longer responds. From then on each tab has its own tokens. */
  isStorageSilent = false
  isOffline = false
  /** Who logs in. */
  person = 'ada'
  /** Whether another user is logging in. */
  isChanging = false
  /** Tabs whose worker renews. */
  workers = new Set()
  /** When the service could last not be reached, or failed, or a user logged in. */
  troubledAt = -Infinity
  tally = {
    served: 0,
    failed: {},
    deeds: {},
    firstMs: {},
    restored: 0,
    worked: {},
    hung: 0,
    asOther: [],
    suspicious: [],
    anomalies: {},
    trouble: [],
  }
  #opened = 0

  constructor({ engine, dice, most }) {
    Object.assign(this, { engine, dice, most })
  }

  async run({ seconds, deeds, ...given }) {
    const { dice } = this
    const latencyMs = () => dice.between(0, 500)
    const onReport = (report) => this.#heard(report)
    const onCall = (call) => this.#noted(call)
    const onOther = (request) => this.tally.asOther.push({ ...request, storage: this.storageDeeds > 0 })
    this.service = await startService({ ...given, latencyMs, onReport, onCall, onOther })
    await this.open()
    const endsAt = performance.now() + seconds * 1_000
    while (performance.now() < endsAt && this.tally.trouble.length < 5) {
      await this.#buryTheDead()
      if (this.tabs.size === 0) await this.open()
      const tab = await this.#target()
      const name = weighted(deeds, dice)
      const isDone = tab && (await this.command(() => DEEDS[name](this, tab)))
      this.diary.push([Math.round(performance.now()), name, tab?.id, isDone])
      if (isDone) this.tally.deeds[name] = (this.tally.deeds[name] ?? 0) + 1
      await pause(dice.between(50, 700))
    }
    const { calls, refused } = this.service
    const refreshes = calls.filter(({ token }) => token !== undefined)
    const facts = { refreshes: refreshes.length, again: presentedAgain(refreshes), refused, logins: this.logins }
    const result = { ...this.tally, ...facts, seen: { calls, diary: this.diary } }
    this.tabs.clear()
    await this.service.cutOff()
    return result
  }

  async open() {
    this.#opened += 1
    const tab = { id: this.#opened, isBusy: true, heardAt: performance.now(), lastDeed: 'opened' }
    this.tabs.set(tab.id, tab)
    tab.driver = await this.command(() => this.engine.open(`${this.service.origin}/tab?tab=${tab.id}`))
    if (!tab.driver) this.tabs.delete(tab.id)
  }

  async close(tab, why = 'closed') {
    this.disturb(tab, why)
    this.tabs.delete(tab.id)
    this.workers.delete(tab.id)
    await Promise.race([tab.driver?.close().catch(() => undefined), pause(3_000)])
  }

  /** From now on, until the tab reports again, it may lose responses. */
  disturb(tab, why, { isBusy = false } = {}) {
    const calls = this.#recentCalls().filter((call) => call.tab === tab.id)
    for (const call of calls) call.disturbed ??= why
    const lastDeed = calls.some(({ end }) => end === undefined) ? `${why} in a refresh` : why
    Object.assign(tab, { disturbed: why, disturbedAt: performance.now(), lastDeed, isBusy: tab.isBusy || isBusy })
  }

  storageSuffers() {
    this.storageDeeds += 1
    for (const call of this.#recentCalls()) call.storage = true
  }

  get isQuiet() {
    return this.workers.size === 0 && [...this.tabs.values()].every(({ isBusy, disturbed }) => !isBusy && !disturbed)
  }

  /** Whether a user is logging in, or has not logged in yet. */
  get isLoginUnderWay() {
    return this.logins.at(-1)?.inAt === undefined
  }

  /** The other of two users logs in. */
  async otherPerson(tab, logIn) {
    this.isChanging = true
    this.person = this.person === 'ada' ? 'bob' : 'ada'
    try {
      await logIn(this.person)
    } finally {
      this.isChanging = false
      this.troubledAt = performance.now()
    }
  }

  /** Waits until the page to which the provider has sent the user has the login, or has failed. */
  async cameBack(tab) {
    await Promise.race([new Promise((resolve) => (tab.cameBack = resolve)), pause(COMMAND_MS / 2)])
  }

  /** @returns What the step gives; undefined if the engine fails. */
  async command(step) {
    const late = pause(COMMAND_MS, 'late', { ref: false })
    try {
      const given = await Promise.race([step(), late])
      if (given !== 'late') return given ?? true
      this.tally.trouble.push('no answer')
    } catch (error) {
      // A tab that has crashed meanwhile takes no commands.
      if (![...this.tabs.values()].some(({ disturbed }) => disturbed === 'crashed'))
        this.tally.trouble.push(String(error))
    }
    return undefined
  }

  #recentCalls() {
    const now = performance.now()
    return this.service.calls.filter(({ endedAt = now }) => now - endedAt <= ON_ITS_WAY_MS)
  }

  #noted(call) {
    const tab = this.tabs.get(call.tab)
    call.disturbed = tab ? tab.disturbed : 'closed'
    call.storage = this.storageDeeds > 0
    if (call.token === undefined && this.logins.at(-1)?.tab === call.tab) this.logins.at(-1).call = call
  }

  /** Most deeds hit a tab in the middle of a refresh. */
  async #target() {
    const inFlight = () => this.service.calls.find(({ end, tab }) => end === undefined && this.#isFree(tab))
    for (let n = 0; n < 100 && !inFlight() && this.dice.happens(0.985); n += 1) await pause(10)
    const call = inFlight()
    if (call) return this.tabs.get(call.tab)
    const free = [...this.tabs.values()].filter(({ id }) => this.#isFree(id))
    return free.length > 0 ? this.dice.oneOf(free) : undefined
  }

  #isFree(id) {
    const tab = this.tabs.get(id)
    return tab?.driver && !tab.isBusy && !tab.disturbed
  }

  async #buryTheDead() {
    const now = performance.now()
    for (const tab of this.tabs.values()) {
      const silentMs = now - tab.heardAt
      const isDead = tab.disturbed === 'crashed' && silentMs > 4_000
      if (!isDead && silentMs < 2 * SILENT_MS) continue
      if (!isDead) this.tally.trouble.push(`tab ${tab.id} is silent after it was ${tab.lastDeed}`)
      await this.close(tab, 'crashed')
    }
  }

  #heard(report) {
    const {
      tab: id,
      events,
      begun,
      restored,
      served,
      failed,
      firstMs,
      pendingMs = 0,
      requiredMs,
      why,
      loggedIn,
    } = report
    const tab = this.tabs.get(id)
    if (!tab) return {}
    if (report.worked !== undefined) this.tally.worked[report.worked] = (this.tally.worked[report.worked] ?? 0) + 1
    if (report.worked !== undefined || begun) this.workers.delete(id)
    if (report.cameBack) tab.cameBack?.()
    const { tally } = this
    const now = performance.now()
    tab.heardAt = now
    const survived = tab.disturbed === 'crashed' && now - tab.disturbedAt > 1_000
    if (firstMs !== undefined && !this.#wasTroubled(now - firstMs)) (tally.firstMs[tab.lastDeed] ??= []).push(firstMs)
    if (begun || survived) Object.assign(tab, { disturbed: this.isOffline ? 'offline' : undefined, isBusy: false })
    tally.restored += restored ? 1 : 0
    tally.served += served
    for (const [code, count] of Object.entries(failed)) tally.failed[code] = (tally.failed[code] ?? 0) + count
    tally.hung += pendingMs > HANGS_MS ? 1 : 0
    for (const { name, evidence, kind, message } of events) {
      if (name === 'storeUnavailable' && message.includes('does not respond')) this.isStorageSilent = true
      if (name === 'suspicious') tally.suspicious.push(evidence)
      if (name === 'storeUnavailable') tally.anomalies[name] = (tally.anomalies[name] ?? 0) + 1
      if (name === 'anomaly') tally.anomalies[kind] = (tally.anomalies[kind] ?? 0) + 1
    }
    if (loggedIn) this.#loggedIn()
    return requiredMs === undefined ? {} : this.#required(tab, now - requiredMs, why)
  }

  #loggedIn() {
    const login = this.logins.at(-1)
    login.inAt = this.troubledAt = performance.now()
    // A deletion that came after the demand for this login may cost the next one.
    if (!this.isStorageFull && !this.isDeleting) this.storageDeeds -= login.storageDeeds
    login.storageDeeds = 0
  }

  /** Whether a page had a reason to wait since that instant, beside what was done to it. */
  #wasTroubled(since) {
    return this.isOffline || this.service.trouble || this.storageDeeds > 0 || this.troubledAt > since - ON_ITS_WAY_MS
  }

  /** @returns Whether the user logs in, in this tab. */
  #required(tab, askedAt, why) {
    const now = performance.now()
    const { storageDeeds } = this
    const last = this.logins.at(-1)
    const call = last?.call
    const isUnderWay = last && this.tabs.has(last.tab) && now - last.commandedAt < 10_000 && call?.end === undefined
    if (isUnderWay || this.isChanging) return {}
    const inAt = last?.inAt ?? (call?.end === 200 && !call.disturbed ? call.endedAt : undefined)
    if (inAt !== undefined && askedAt < inAt + SPREADS_MS) return {}
    // The page did not get the tokens: the user tries again.
    if (last && inAt === undefined)
      Object.assign(last, { tab: tab.id, commandedAt: now, call: undefined, storageDeeds })
    else this.logins.push({ tab: tab.id, at: now, commandedAt: now, storageDeeds, why, reason: this.#reason() })
    return { logIn: this.person }
  }

  #reason() {
    const { service, logins, storageDeeds, isStorageSilent } = this
    const calls = service.calls.filter(({ token }) => token !== undefined)
    return reasonOfLogin({ calls, logins, storageDeeds, isStorageSilent })
  }
}

function weighted(weights, { between }) {
  let rest = between(
    0,
    Object.values(weights).reduce((sum, weight) => sum + weight, 0),
  )
  for (const [name, weight] of Object.entries(weights)) {
    rest -= weight
    if (rest < 0) return name
  }
  return Object.keys(weights)[0]
}

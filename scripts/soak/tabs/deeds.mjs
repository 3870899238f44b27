import { setTimeout as pause } from 'node:timers/promises'

const MINUTES = 60_000
const STEPS = [-1_440, -120, -10, -1, 1, 10, 50, 62, 120, 1_440].map((minutes) => minutes * MINUTES)
const DELETE = `new Promise((resolve) => (indexedDB.deleteDatabase('axios-evergreen').onsuccess = () => resolve('deleted')))`
const OFFLINE = `Object.defineProperty(navigator, 'onLine', { value: false, configurable: true }); dispatchEvent(new Event('offline'))`
const ONLINE = `delete navigator.onLine; dispatchEvent(new Event('online'))`

/** What may happen to a tab, or to all. Each returns false if it could not happen now. */
export const DEEDS = {
  async opened(round) {
    if (round.isOffline || round.tabs.size >= round.most) return false
    await round.open()
  },
  async closed(round, tab) {
    await round.close(tab)
  },
  async crashed(round, tab) {
    if (!tab.driver.crash) return false
    // Where several tabs share a process, any of them may die.
    const suspects = round.engine.name === 'chromium' ? [tab] : [...round.tabs.values()]
    for (const one of suspects) round.disturb(one, 'crashed')
    await tab.driver.crash()
  },
  async reloaded(round, tab) {
    if (round.isOffline) return false
    round.disturb(tab, 'reloaded', { isBusy: true })
    await tab.driver.evaluate('void setTimeout(() => location.reload())')
  },
  async away(round, tab) {
    if (round.isOffline) return false
    round.disturb(tab, 'away', { isBusy: true })
    const ms = Math.round(round.dice.between(0, 2_000))
    await tab.driver.evaluate(`void setTimeout(() => { location.href = '/elsewhere?ms=${ms}' })`)
  },
  async frozen(round, tab) {
    const ms = Math.round(round.dice.between(300, 8_000))
    round.disturb(tab, 'frozen', { isBusy: true })
    if (!tab.driver.freeze || round.dice.happens(0.5)) await tab.driver.evaluate(`void standStill(${ms})`)
    else {
      await tab.driver.freeze()
      void pause(ms).then(() => tab.driver.thaw().catch(() => undefined))
    }
  },
  /** Another user logs in, by a form. */
  async changed(round, tab) {
    if (round.isLoginUnderWay || round.isOffline) return false
    await round.otherPerson(tab, (person) => tab.driver.evaluate(`logInAs('${person}').catch(() => undefined)`))
  },
  /** Another user logs in, by a redirect. */
  async redirected(round, tab) {
    if (round.isLoginUnderWay || round.isOffline) return false
    round.disturb(tab, 'redirected', { isBusy: true })
    await round.otherPerson(tab, async (person) => {
      await tab.driver.evaluate(`void goAndLogIn('${person}')`)
      await round.cameBack(tab)
    })
  },
  async worked(round, tab) {
    if (round.isOffline) return false
    round.workers.add(tab.id)
    await tab.driver.evaluate('void work()')
  },
  async offline(round) {
    if (round.isOffline || !round.isQuiet) return false
    round.isOffline = true
    const all = [...round.tabs.values()]
    for (const tab of all) round.disturb(tab, 'offline')
    await network(round, all, false)
    await pause(round.dice.between(300, 6_000))
    await network(round, all, true)
    round.isOffline = false
    round.troubledAt = performance.now()
    for (const tab of all) if (tab.disturbed === 'offline') tab.disturbed = undefined
  },
  async failing(round) {
    const { service, dice } = round
    service.trouble = dice.oneOf([429, 500, 502, 503, 504])
    void pause(dice.between(300, 6_000)).then(() => {
      service.trouble = undefined
      round.troubledAt = performance.now()
    })
  },
  /** All tabs have one clock: it steps for all at the same instant. */
  async stepped(round) {
    if (!round.isQuiet) return false
    const { service, dice, tabs } = round
    const offsetMs = service.offsetMs + dice.oneOf(STEPS)
    const at = Date.now() + 1_000
    await Promise.all([...tabs.values()].map(({ driver }) => driver?.evaluate(`void stepClock(${offsetMs}, ${at})`)))
    if (Date.now() > at) for (const tab of tabs.values()) round.disturb(tab, 'stepped')
    await pause(at - Date.now())
    service.offsetMs = offsetMs
    for (const tab of tabs.values()) if (tab.disturbed === 'stepped') tab.disturbed = undefined
  },
  async deleted(round, tab) {
    round.storageSuffers()
    round.isDeleting = true
    if (round.engine.clear && round.dice.happens(0.5)) await round.engine.clear(round.service.origin)
    else await tab.driver.evaluate(DELETE)
    // A deletion waits for the steps of other tabs.
    round.isDeleting = false
    round.storageSuffers()
  },
  async full(round) {
    const { engine, service } = round
    if (!engine.quota || round.isStorageFull) return false
    round.isStorageFull = true
    round.storageSuffers()
    await engine.quota(service.origin, 1)
    void pause(round.dice.between(500, 5_000)).then(async () => {
      await engine.quota(service.origin).catch(() => undefined)
      round.isStorageFull = false
    })
  },
}

/** For an engine without such a command, the page behaves as if offline, and no server listens at the address. */
async function network({ engine, service }, tabs, isOnline) {
  if (engine.offline) return engine.offline(!isOnline)
  if (isOnline) await service.reach()
  for (const { driver } of tabs) await driver?.evaluate(`void (() => { ${isOnline ? ONLINE : OFFLINE} })()`)
  if (!isOnline) await service.cutOff()
}

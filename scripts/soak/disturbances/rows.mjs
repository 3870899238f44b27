import { setTimeout as pause } from 'node:timers/promises'

// What may happen to tabs in the middle of a renewal. Each row is one kind of round.
//   `begin(round, tab)`, after the round's `lastsMs`: `end(round, tab)`
//   `cannot`    by engine: why its rounds are left out; `instead`: what replaces it there
//   `profile`   what kind of browser window; else the usual one
//   `who`       `beside`: a tab that does not renew; `all`: every tab; else the tab that renews
//   `lastsMs`, `lifetimeMs`   the least and the most
//   `loses`     whether the response of that tab may be lost: `always`, or `meanwhile`, until the disturbance is over. Then a login may inevitably end.
//   `actsMeanwhile`  the service responds before the disturbance is over
//   `isGone`    that tab does not come back
//   `ends`      the user has ended the login
//   `isApart`   the tabs share nothing, so only the first one has a login
//   `isSerial`  it reaches other rounds of the same browser

const FOR_A_MOMENT = { lastsMs: [300, 4_000] }
/** Longer than a lease, which lasts 1.5 times `exchangeTimeoutMs`. */
const FOR_LONG = { lastsMs: [7_000, 10_000], lifetimeMs: [4_000, 24_000] }
const FREEZE = {
  instead: { firefox: 'a synchronous request, in which the tab stands still' },
  begin: (round, tab) => still(round, [tab]),
  end: (round, tab) => round.engine.name === 'chromium' && tab.driver.thaw(),
}
const SPOIL = (how) => ({
  who: 'all',
  lastsMs: [300, 8_000],
  begin: ({ tabs, lastsMs }) => each(tabs, ({ driver }) => driver.evaluate(`spoil('${how}', ${lastsMs})`)),
})
const MINUTE = 60_000
/** How long a machine sleeps. */
const SLEEPS = [MINUTE / 2, 10 * MINUTE, 24 * 60 * MINUTE]

export const ROWS = {
  closed: { isGone: true, loses: 'always', begin: (round, tab) => round.close(tab) },
  crashed: {
    instead: { firefox: 'kill -9 of the processes of pages, until that tab is dead: others die, too' },
    isSerial: ({ name }) => name === 'firefox',
    ...{ isGone: true, loses: 'always' },
    begin: crash,
  },
  discarded: {
    isGone: true,
    loses: 'always',
    begin: (round, tab) => round.discard(tab),
  },
  reloaded: {
    loses: 'always',
    begin: (_, { driver }) => driver.evaluate('void setTimeout(() => location.reload())'),
  },
  'left, and back': { loses: 'always', begin: leave },
  'in the back/forward cache, while another tab renews': {
    ...{ who: 'beside', lastsMs: [500, 500] },
    begin: ({ dice }, { driver }) => driver.evaluate(`leaveQuietly(${dice.whole(0, 3_000)})`),
  },
  frozen: { ...FREEZE, ...FOR_A_MOMENT },
  'frozen for longer than a lease': { ...FREEZE, ...FOR_LONG, loses: 'meanwhile' },
  'frozen, while another tab renews': { ...FREEZE, who: 'beside', lastsMs: [300, 10_000] },
  'asleep, all tabs, and the clock jumps': {
    // No browser notifies its pages of a sleep, as it does before it freezes them.
    instead: { chromium: FREEZE.instead.firefox, ...FREEZE.instead },
    ...{ who: 'all', loses: 'meanwhile', actsMeanwhile: true, lastsMs: [1_000, 4_000] },
    async begin(round) {
      const { dice, tabs, lastsMs, service, call } = round
      // The connection may not survive the sleep.
      if (dice.happens(0.3)) Object.assign(call, { reset: true, lost: 'always' })
      const ms = dice.oneOf(SLEEPS)
      // The monotonic clock of some systems counts a sleep.
      const ticks = dice.oneOf([0, ms])
      await each(tabs, ({ driver }) => driver.evaluate(`stepped(${ms}, ${ticks}, ${lastsMs / 2})`))
      await standStill(round, tabs)
      setTimeout(() => (service.offsetMs += ms), lastsMs / 2)
    },
  },
  'storage denied': { profile: 'denied', isApart: true, begin: nothing },
  'storage denied, once it has worked': SPOIL('denied'),
  'storage silent': SPOIL('silent'),
  'storage full': {
    cannot: { firefox: 'its protocol has no command that limits the storage of a site' },
    ...{ who: 'all', lastsMs: [300, 8_000] },
    begin: ({ engine, service }) => engine.quota(service.origin, 1),
    end: ({ engine, service }) => engine.quota(service.origin),
  },
  'storage cleared': {
    instead: { firefox: 'the page deletes the database' },
    ...{ who: 'all', ends: true },
    begin: ({ engine, service }, { driver }) => (engine.clear ? engine.clear(service.origin) : driver.evaluate(DELETE)),
  },
  'closed, in a private window': {
    profile: 'private',
    ...{ isGone: true, loses: 'always' },
    begin: (round, tab) => round.close(tab),
  },
  'a service worker that renews is stopped': {
    instead: { firefox: 'it stops by its own timeout, which is set to 1 s' },
    profile: 'workers',
    ...{ isSerial: ({ name }) => name === 'chromium', hasWorker: true, loses: 'always' },
    begin: ({ tabs, engine }) => (engine.name === 'chromium' ? tabs[0].driver.stopServiceWorkers() : pause(2_000)),
  },
}

const DELETE = `new Promise((resolve) => (indexedDB.deleteDatabase('axios-evergreen').onsuccess = () => resolve('deleted')))`

const each = (tabs, act) => Promise.all(tabs.map(act))

function nothing() {}

function leave({ dice }, { driver }) {
  const ms = dice.whole(0, 3_000)
  return driver.evaluate(`void setTimeout(() => { location.href = '/elsewhere?ms=${ms}' })`)
}

function still({ engine, lastsMs }, tabs) {
  if (engine.name === 'chromium') return each(tabs, ({ driver }) => driver.freeze())
  return standStill({ lastsMs }, tabs)
}

const standStill = ({ lastsMs }, tabs) => each(tabs, ({ driver }) => driver.evaluate(`void standStill(${lastsMs})`))

async function crash(round, tab) {
  if (round.engine.name === 'chromium') {
    await tab.driver.crash()
    return round.gone(tab)
  }
  while (await round.isAlive(tab)) await tab.driver.crash()
  for (const one of round.tabs) if (!(await round.isAlive(one))) round.gone(one)
}

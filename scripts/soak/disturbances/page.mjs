// The page of a round: it asks the API again and again, and reports each outcome. The service puts `given` into the page.
import '../../../test/browser/app/main.mjs'

const { tab, options } = globalThis.given
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** Some engines never settle a request of a page that has been in the back/forward cache, so each has a limit, ms. */
const LIMIT_MS = 5_000
const report = (news) =>
  fetch('/heard', {
    method: 'POST',
    body: JSON.stringify({ tab, ...news }),
    signal: AbortSignal.timeout(LIMIT_MS),
  }).catch(() => undefined)

/** Freezes the page: a synchronous request keeps timers and tasks from running. */
globalThis.standStill = (ms) =>
  setTimeout(() => {
    const still = new XMLHttpRequest()
    still.open('GET', `/still?ms=${ms}`, false)
    still.send()
  })

/** For `ms`, the storage of this page fails in the way that `how` names. */
globalThis.spoil = (how, ms) => {
  const { open } = IDBFactory.prototype
  IDBFactory.prototype.open = () => {
    if (how === 'silent') return {}
    throw new DOMException('denied', 'SecurityError')
  }
  setTimeout(() => (IDBFactory.prototype.open = open), ms)
}

/** A service worker shares the store of the page, and renews. */
globalThis.work = async () => {
  await navigator.serviceWorker.register(`/worker.js?tab=${tab + 100}`, { type: 'module' })
  const { active } = await navigator.serviceWorker.ready
  active.postMessage({ web: {}, ...options, renews: true })
}

let isQuiet = false
/** Leaves, and comes back after `ms`. A page with a request in flight would not enter the back/forward cache. */
globalThis.leaveQuietly = (ms) => {
  isQuiet = true
  setTimeout(() => (location.href = `/elsewhere?ms=${ms}`), 500)
}
addEventListener('pageshow', ({ persisted }) => {
  isQuiet = false
  if (persisted) report({ restored: true })
})
await globalThis.start({ web: {}, ...options })
const { app } = globalThis
app.tokens.on('suspicious', ({ evidence }) => report({ suspicious: evidence }))
report({ began: true })
for (;;) {
  while (isQuiet) await pause(50)
  const outcome = await app.api.get('/wallet', { timeout: LIMIT_MS }).then(
    ({ status, data: { n } }) => ({ status, n }),
    ({ code, response }) => ({ status: response?.status, code }),
  )
  await report(outcome)
  await pause(100 + Math.random() * 150)
}

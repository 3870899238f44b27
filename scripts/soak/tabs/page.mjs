// The page of the soak of tabs: it asks the API again and again, and reports the outcomes. The harness puts `soak` into the page.
import '../../../test/browser/app/main.mjs'

const { tab, options, stepped } = globalThis.soak
/** A new id after each load, but not after a return from the back/forward cache. */
const page = Math.random().toString(36).slice(2)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** What this page has not reported yet. `begun`: it has loaded, or comes back. */
let news = { begun: true, served: 0, failed: {} }
let askedAt
let isFirst = true
let toldEvents = 0

/** Freezes the page for as long as the harness requests: a synchronous request keeps timers and tasks from running. */
globalThis.standStill = (ms) =>
  setTimeout(() => {
    const still = new XMLHttpRequest()
    still.open('GET', `/still?ms=${ms}`, false)
    still.send()
    news.begun = true
  })
globalThis.stepClock = stepped
document.addEventListener('resume', () => (news.begun = true))
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) Object.assign(news, { begun: true, restored: true })
})

/** The last login that this page knows of. */
let known = 0
const learn = (login) => (known = Math.max(known, Number(login)))
const adopted = (token) => learn(token.split('-of-')[1])
/** Logs in by a form. */
globalThis.logInAs = async (person) => adopted(await globalThis.app.logIn(person))
/** Logs in by a redirect: the provider sends the user back to this page. */
globalThis.goAndLogIn = (person) => setTimeout(() => location.assign(`/authorize?tab=${tab}&person=${person}`))
/** A worker of this page renews. */
globalThis.work = () => {
  const worker = new Worker(`/worker.js?tab=${tab}`, { type: 'module' })
  worker.onmessage = ({ data: [outcome] }) => {
    news.worked = outcome
    worker.terminate()
  }
  worker.postMessage({ web: {}, ...options, code: undefined, renews: true })
}

// A code is valid for one use.
if (options.code) history.replaceState(null, '', `/tab?tab=${tab}`)
await globalThis.start({ web: {}, ...options })
const { app } = globalThis
app.cameBack?.then(adopted, () => undefined).then(() => (news.cameBack = true))
const startedAt = performance.now()
setInterval(report, 400)
for (;;) {
  askedAt = performance.now()
  const outcome = await ask()
  if (outcome === 200) noteServed()
  else news.failed[outcome] = (news.failed[outcome] ?? 0) + 1
  const mustLogIn = outcome === 'ERR_LOGIN_REQUIRED' && app.tokens.status().login === 'required'
  news.required = mustLogIn ? askedAt : undefined
  if (mustLogIn) news.why = await app.tokens.getAccessToken().catch(({ loginReason }) => loginReason)
  askedAt = undefined
  await pause(100 + Math.random() * 200)
}

/** @returns As `app.send`. */
async function ask() {
  try {
    const { status, data } = await app.api.get('/wallet', { headers: { 'X-Login': known } })
    learn(data.login)
    return status
  } catch (error) {
    return error.response?.status || error.code || String(error)
  }
}

function noteServed() {
  news.served += 1
  // How long the user of a page that has just loaded waits.
  if (isFirst) news.firstMs = performance.now() - startedAt
  isFirst = false
}

async function report() {
  const told = news
  news = { served: 0, failed: {} }
  const events = app.events.slice(toldEvents)
  toldEvents += events.length
  const now = performance.now()
  const since = (at) => (at === undefined ? undefined : now - at)
  const body = JSON.stringify({
    tab,
    page,
    events,
    ...told,
    pendingMs: since(askedAt),
    requiredMs: since(told.required),
  })
  try {
    const { logIn } = await (await fetch('/report', { method: 'POST', body })).json()
    if (logIn) await logInAgain(logIn)
  } catch {
    // Offline: later.
    toldEvents -= events.length
    news = merged(told, news)
  }
}

async function logInAgain(person) {
  const isIn = await globalThis.logInAs(person).then(
    () => true,
    () => false,
  )
  news.loggedIn = isIn
}

function merged(one, other) {
  const failed = { ...one.failed }
  for (const [code, count] of Object.entries(other.failed)) failed[code] = (failed[code] ?? 0) + count
  return { ...one, ...other, served: one.served + other.served, failed }
}

import { fromTokenResponse } from 'axios-evergreen/oauth2'
import { inspect } from 'axios-evergreen/web/inspector'
import { openTab as openTabByHand } from './by-hand.mjs'
import { timeline } from './lanes.mjs'
import { memoryStore } from './memory.mjs'
import { LIFETIME_MS, ONCE, ORIGIN, startService } from './service.mjs'
import { startSide } from './side.mjs'
import { handStory, packageStory, worldOf } from './story.mjs'
import { openTab } from './with-package.mjs'

/** Two tabs take turns: each asks twice a second. */
const TICK_MS = 250
const SHOW_TICKS = 2
const HOUR_MS = 3_600_000
/** A screen reader gets no new text for this long. */
const QUIET_MS = 6_000
const ADDRESSES = { tokenEndpoint: `${ORIGIN}/token`, baseURL: `${ORIGIN}/api` }

const on = new Set()
const service = startService(['package', 'hand'], observe)
service.lifetimeMs = LIFETIME_MS
const time = timeline()
const element = (id) => document.getElementById(id)
const wallNow = Date.now.bind(Date)
Date.now = () => wallNow() + (on.has('clock') ? HOUR_MS : 0)

const sides = {
  package: startSide({
    ...{ owner: 'package', root: element('package'), service, time, story: packageStory },
    kit: packageKit(),
  }),
  hand: startSide({ owner: 'hand', root: element('hand'), service, time, story: handStory, kit: handKit() }),
}

function packageKit() {
  const store = memoryStore()
  const adapter = service.adapterOf('package')
  let tokens
  return {
    open(logOut) {
      const tab = openTab({ ...ADDRESSES, adapter, store, logOut })
      // The panel of the second tab is not shown. It sends its events to the first one.
      const panel = tokens ? document.createElement('div') : element('inspector')
      const stop = inspect(tab.tokens, panel, { api: tab.api })
      tokens ??= tab.tokens
      const close = () => {
        stop()
        void tab.tokens.close()
      }
      return { api: tab.api, close }
    },
    adopt: (answer) => tokens.adopt(fromTokenResponse(answer)),
    nextS: () => Math.ceil(((tokens.status().nextAttemptAt ?? 0) - Date.now()) / 1_000),
  }
}

function handKit() {
  const storage = {}
  const adapter = service.adapterOf('hand')
  return {
    open: (logOut) => ({ api: openTabByHand({ ...ADDRESSES, adapter, storage, logOut }), close: () => undefined }),
    adopt: async (answer) => void Object.assign(storage, answer),
  }
}

function observe(event) {
  if (event.type === 'over') turn(event.name, false)
  else sides[event.owner].observe(event)
}

const buttons = Array.from(document.querySelectorAll('[data-trouble]'))
for (const button of buttons) button.onclick = () => turn(button.dataset.trouble, !on.has(button.dataset.trouble))

function turn(name, isOn) {
  if (isOn) on.add(name)
  else on.delete(name)
  buttons.find(({ dataset }) => dataset.trouble === name).setAttribute('aria-pressed', isOn)
  for (const side of Object.values(sides)) {
    // A fault that happens once is still described after it has happened.
    if (isOn || !ONCE.includes(name)) side.forget()
    if (name === 'tab') side.second(isOn)
  }
  service.set(name, isOn)
  element('world').textContent = worldOf(on)
}

let isPaused = false
element('pause').onclick = ({ currentTarget }) => {
  time.isPaused = isPaused = !isPaused
  currentTarget.textContent = isPaused ? 'Go on' : 'Pause'
}

let ticks = 0
let spoken = { key: '', at: 0 }
setInterval(() => {
  if (isPaused) return
  ticks += 1
  for (const side of Object.values(sides)) side.tick(ticks)
  if (ticks % SHOW_TICKS === 0) show()
}, TICK_MS)

function show() {
  const [withPackage, byHand] = [sides.package, sides.hand].map((side) => side.show(on))
  const key = `${[...on]} ${withPackage.key} ${byHand.key}`
  const now = performance.now()
  if (key === spoken.key || now - spoken.at < QUIET_MS) return
  spoken = { key, at: now }
  for (const side of Object.values(sides)) side.describe()
  element('spoken').textContent = `With the package: ${withPackage.text} By hand: ${byHand.text}`
}

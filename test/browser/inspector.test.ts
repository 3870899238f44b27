import { expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeBrowser, stageOfSuite, type Tab } from './support/browser.ts'

interface Axis {
  readonly name: string
  readonly dots: readonly string[]
}

const REQUEST_ENDS = ['answered', 'sent again', 'failed']
const axesOf = ({ page }: Tab) => page.evaluate<Axis[]>('axes()')
const hasDots = (axis: number, least: number) => `axes()[${axis}]?.dots.length >= ${least}`

/** Opens a tab with a panel. */
async function lookingTab(open: (options?: object) => Promise<Tab>, options?: object): Promise<Tab> {
  const tab = await open(options)
  await tab.page.evaluate('look()')
  return tab
}

function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  return complaints
}

describeBrowser('given panels of a site', () => {
  const stage = stageOfSuite()

  it.each(['xhr', 'fetch'])('when requests end (%s), then each is a dot of its kind', async (adapter) => {
    const { site, open } = stage()
    const tab = await lookingTab(open, { adapter })
    await tab.send('/wallet')
    site.revokeAccess()
    expect(await tab.send('/wallet')).toBe(200)
    expect(await tab.send('/refused')).toBe(401)
    // With `validateStatus: null`, the rejection arrives as a response.
    expect(await tab.page.evaluate(`app.api.get('/refused', { validateStatus: null }).then(r => r.status)`)).toBe(401)
    await tab.page.evaluate(`app.api.get('/wallet', { signal: AbortSignal.abort() }).catch(() => undefined)`)
    await tab.send('/wallet')
    const ends = ['answered', 'sent again', 'failed', 'failed', 'answered']
    await tab.until(`axes()[0].dots.filter(d => ${JSON.stringify(REQUEST_ENDS)}.includes(d)).length >= ${ends.length}`)
    const [own, ...others] = await axesOf(tab)
    expect(own?.name).toBe('this tab')
    expect(own?.dots.filter((dot) => REQUEST_ENDS.includes(dot))).toEqual(ends)
    expect(own?.dots.filter((dot) => dot === 'renewed').length).toBeGreaterThanOrEqual(2)
    expect(others).toEqual([])
  })

  it('when a request has ended, then its config is unchanged', async () => {
    const { open } = stage()
    const tab = await lookingTab(open)
    const check = `config => [config.validateStatus === app.api.defaults.validateStatus, config.validateStatus === null]`
    const of = (request: string) => tab.page.evaluate(`${request}.then(r => r.config, e => e.config).then(${check})`)
    expect(await of(`app.api.get('/wallet')`)).toEqual([true, false])
    expect(await of(`app.api.get('/refused')`)).toEqual([true, false])
    expect(await of(`app.api.get('/wallet', { validateStatus: null })`)).toEqual([false, true])
  })

  it('when an interceptor freezes a config, then its request is a dot too', async () => {
    const { open } = stage()
    const tab = await open({})
    // The interceptor is registered after those of the panel, so it runs before them.
    await tab.page.evaluate('look()')
    await tab.page.evaluate(`void app.api.interceptors.request.use((config) => Object.freeze({ ...config }))`)
    expect(await tab.send('/wallet')).toBe(200)
    await tab.until(`axes()[0].dots.includes('answered')`)
  })

  it('when several tabs have a panel, then each panel has an axis for each of them, its own first; a tab without a panel has none', async () => {
    const { open } = stage()
    const first = await lookingTab(open, { web: {} })
    await first.send('/wallet')
    await open({ web: {} })
    const second = await lookingTab(open, { web: {} })
    await second.send('/wallet')
    await first.until(hasDots(1, 2))
    await second.until(hasDots(1, 2))
    const [ofFirst, ofSecond] = [await axesOf(first), await axesOf(second)]
    expect(ofFirst.map(({ name }) => name)).toEqual(['this tab', 'another tab'])
    // The first tab did this before the second panel existed.
    expect(ofFirst[0]).toEqual({ name: 'this tab', dots: ['renewed', 'answered'] })
    expect(ofSecond).toEqual([
      { name: 'this tab', dots: ['adopted', 'answered'] },
      { name: 'another tab', dots: ['renewed', 'answered'] },
    ])
    expect(ofFirst[1]?.dots).toEqual(ofSecond[0]?.dots)
  })

  it('when a panel is removed, or a tab navigates or is closed, then its axis disappears', async () => {
    const { site, open } = stage()
    const watching = await lookingTab(open)
    const [removed, left, closed] = [await lookingTab(open), await lookingTab(open), await lookingTab(open)]
    await watching.until('axes().length === 4')
    await removed.page.evaluate('app.remove()')
    await watching.until('axes().length === 3')
    await left.page.goto(`${site.origin}/other`)
    await watching.until('axes().length === 2')
    await closed.page.close({ runBeforeUnload: true })
    await watching.until('axes().length === 1')
    expect(await axesOf(watching)).toEqual([{ name: 'this tab', dots: [] }])
  })

  it('when a panel is removed, then no listener, timer, channel, interceptor or element is left', async () => {
    const { context, site, open } = stage()
    await context.addInitScript(COUNT)
    const tab = await open()
    const complaints = complaintsOf(tab.page)
    await tab.send('/wallet')
    const living = () => tab.page.evaluate<Record<string, number>>('({ ...living, ...interceptors() })')
    const before = await living()
    await tab.page.evaluate('look()')
    const during = await living()
    expect(Object.keys(before)).toEqual(['listeners', 'timers', 'channels', 'request', 'response'])
    for (const [what, count] of Object.entries(before)) expect([what, during[what]! > count]).toEqual([what, true])
    // A request in flight ends as it would without a panel.
    site.hold()
    await tab.page.evaluate('app.tokens.reset()')
    await tab.page.evaluate(`void (globalThis.sent = app.send({ url: '/wallet' }))`)
    await tab.page.evaluate('app.remove()')
    site.release()
    expect(await tab.page.evaluate('sent')).toBe(200)
    expect(await tab.page.evaluate(`document.getElementById('panel').innerHTML`)).toBe('')
    expect(await living()).toEqual(before)
    expect(complaints).toEqual([])
  })

  it('when all messages on the channel are recorded, then they contain only times and kinds', async () => {
    const { site, context, open } = stage()
    const recorder = await context.newPage()
    await recorder.goto(`${site.origin}/esbuild`)
    await recorder.evaluate(`void (globalThis.said = [], globalThis.channel = new BroadcastChannel('axios-evergreen.inspector'),
      channel.onmessage = ({ data }) => said.push(JSON.stringify(data)))`)
    const first = await lookingTab(open, { web: {} })
    const second = await lookingTab(open, { web: {}, retry: { maxAttempts: 1 } })
    await first.send('/wallet?iban=secret', { headers: { 'X-Secret': 'secret' } })
    await second.send('/wallet?iban=secret')
    site.revokeAccess()
    await second.send('/wallet?iban=secret')
    await second.send('/refused?iban=secret')
    site.failure = { status: 400 }
    await second.page.evaluate('app.tokens.renew().catch(() => undefined)')
    await second.page.evaluate('app.remove()')
    const kinds = ['renewed', 'adopted', 'renewalFailed', 'answered', 'rejected, then answered', 'failed']
    await recorder.waitForFunction(
      `${JSON.stringify(kinds)}.every((kind) => said.some((text) => text.includes('"' + kind + '"')))`,
    )
    await recorder.waitForFunction(`said.some((text) => !text.includes('course'))`)
    const shape = new RegExp(
      `^{"tab":"[a-z0-9]{1,12}"(,"course":{"from":\\d+,"dots":\\[(\\[\\d{13},"(${['retry', ...kinds].join('|')})"\\],?)*\\]})?}$`,
    )
    for (const text of await recorder.evaluate<string[]>('said')) expect(text).toMatch(shape)
  })

  it('when another script sends messages there, then they are ignored', async () => {
    const { site, context, open } = stage()
    const tab = await lookingTab(open)
    const complaints = complaintsOf(tab.page)
    const other = await context.newPage()
    await other.goto(`${site.origin}/esbuild`)
    const ODD = `[null, 1, 'x', {}, { tab: 1 }, { tab: '' }, { tab: 'a', course: null }, { tab: 'a', course: { from: 0 } },
      { tab: 'a', course: { from: 0.5, dots: [] } }, { tab: 'a', course: { from: 0, dots: [1] } },
      { tab: 'a', course: { from: 0, dots: [[1, 'toString']] } }, { tab: 'a', course: { from: 0, dots: [[NaN, 'failed']] } },
      { tab: 'a', course: { from: 0, dots: Array(301).fill([Date.now(), 'failed']) } }]`
    await other.evaluate(`void (globalThis.channel = new BroadcastChannel('axios-evergreen.inspector'),
      ${ODD}.forEach((one) => channel.postMessage(one)),
      channel.postMessage({ tab: 'b', course: { from: 7, dots: [[Date.now(), 'failed']] } }))`)
    await tab.until(hasDots(1, 1))
    expect(await axesOf(tab)).toEqual([
      { name: 'this tab', dots: [] },
      { name: 'another tab', dots: ['failed'] },
    ])
    expect(complaints).toEqual([])
  })
})

describeBrowser.each([
  ['there is no BroadcastChannel', 'delete globalThis.BroadcastChannel'],
  [
    'the user has forbidden it',
    `globalThis.BroadcastChannel = class { constructor() { throw new DOMException('', 'SecurityError') } }`,
  ],
])('given a page where %s', (_, script) => {
  const stage = stageOfSuite()

  it('when it has a panel, then it shows this tab', async () => {
    const { context, open } = stage()
    await context.addInitScript(script)
    const tab = await lookingTab(open)
    const complaints = complaintsOf(tab.page)
    await tab.send('/wallet')
    await tab.until(hasDots(0, 2))
    expect(await axesOf(tab)).toEqual([{ name: 'this tab', dots: ['renewed', 'answered'] }])
    await tab.page.evaluate('app.remove()')
    expect(complaints).toEqual([])
  })
})

/** Counts in `living` what a page has opened and not closed. `interceptors()` counts those of the instance. */
const COUNT = `
globalThis.interceptors = () => {
  const counts = { request: 0, response: 0 }
  for (const side in counts) app.api.interceptors[side].forEach(() => (counts[side] += 1))
  return counts
}
globalThis.living = { listeners: 0, timers: 0, channels: 0 }
const { addEventListener, removeEventListener } = EventTarget.prototype
const listeners = new Set()
window.addEventListener = (type, listener, ...rest) => {
  listeners.add(listener)
  living.listeners = listeners.size
  return addEventListener.call(window, type, listener, ...rest)
}
window.removeEventListener = (type, listener, ...rest) => {
  listeners.delete(listener)
  living.listeners = listeners.size
  return removeEventListener.call(window, type, listener, ...rest)
}
const { setInterval, clearInterval } = window
window.setInterval = (...given) => {
  living.timers += 1
  return setInterval(...given)
}
window.clearInterval = (timer) => {
  living.timers -= 1
  clearInterval(timer)
}
window.BroadcastChannel = class extends BroadcastChannel {
  constructor(name) {
    super(name)
    living.channels += 1
  }
  close() {
    living.channels -= 1
    super.close()
  }
}
`

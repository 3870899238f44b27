import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findingsIn } from './support/axe.ts'
import { describeBrowser, FLAGS } from './support/browser.ts'

type Counts = Record<'answered' | 'failed' | 'calls' | 'lost', number>

/** The page's time advances in steps: shorter than any response, and than any limit of the package. */
const STEP_MS = 125

describeBrowser('given the page to play with', () => {
  let folder: string
  let file: string
  let browser: Browser
  let page: Page
  let complaints: string[]
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'play-'))
    file = join(folder, 'play.html')
    execFileSync(process.execPath, ['scripts/play/build.mjs', file], { stdio: 'pipe' })
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
  })
  afterAll(async () => {
    await browser.close()
    rmSync(folder, { recursive: true })
  })
  beforeEach(async () => {
    complaints = []
  })

  async function opened(options: object = {}): Promise<void> {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(300_000)
    page = await context.newPage()
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('request', (request) => complaints.push(request.url()))
    await page.clock.install()
    await page.goto(pathToFileURL(file).href)
    await page.waitForFunction(`document.querySelector('#inspector').childElementCount > 0`)
    complaints = complaints.filter((one) => !/^(file|data):/.test(one))
    await until(`numberOf('hand', 'answered') > 2`)
  }

  /** Lets time pass in the page until the condition holds. */
  async function until(condition: string): Promise<void> {
    while (!(await page.evaluate(`(${HELP}, ${condition})`))) await page.clock.runFor(STEP_MS)
  }

  const press = (trouble: string) => page.click(`[data-trouble=${trouble}]`)
  const isOn = (trouble: string) => page.getAttribute(`[data-trouble=${trouble}]`, 'aria-pressed')
  const said = (side: string) => page.textContent(`#${side} [data-part=says]`)
  const counts = (side: string) =>
    page.evaluate<Counts>(
      `(${HELP}, Object.fromEntries(['answered', 'failed', 'calls', 'lost'].map((name) => [name, numberOf('${side}', name)])))`,
    )
  const close = async () => {
    await page.context().close()
    expect(complaints).toEqual([])
  }

  it('when it is built, then it has at most 124 KiB', () => {
    expect(statSync(file).size).toBeLessThanOrEqual(124 * 1_024)
  })

  it('when nothing is wrong, then the package renews before a token expires, and the other side gets a 401', async () => {
    await opened()
    await until(`numberOf('hand', 'calls') > 0 && hasSign('hand', 'again')`)
    const [withPackage, byHand] = [await counts('package'), await counts('hand')]
    expect(withPackage).toMatchObject({ failed: 0, lost: 0 })
    expect(withPackage.calls).toBeGreaterThan(0)
    expect(byHand).toMatchObject({ failed: 0, lost: 0 })
    expect(await page.evaluate(`(${HELP}, hasSign('package', 'again'))`)).toBe(false)
    await close()
  })

  it('when the service is down until the token has expired, then only the package keeps its login', async () => {
    await opened()
    await press('down')
    await until(`numberOf('package', 'failed') > 3 && numberOf('hand', 'lost') > 0`)
    expect(await said('package')).toMatch(/^The token has expired: \d+ requests failed. The login is kept/)
    expect(await said('hand')).toMatch(/^The refresh got a 503, so this code logged the user out/)
    await press('down')
    await until(`saidBy('package', 'without a new login')`)
    expect(await counts('package')).toMatchObject({ lost: 0 })
    await close()
  })

  it.each([
    ['throttled', /^\d+ requests? waits? for one token request/, /got a 429, so this code logged the user out/, 0],
    ['lost', /^The lost response contained the next refresh token/, /^The response to the refresh was lost/, 1],
    ['stolen', /The package reports “suspicious”/, /Nothing reports why/, 1],
    ['tab', /./, /^Two rejected requests presented the same refresh token/, 0],
  ] as const)('when the switch “%s” is on, then each side says what happened', async (trouble, own, other, lost) => {
    await opened()
    await press(trouble)
    expect(await isOn(trouble)).toBe('true')
    const seen = { package: '', hand: '' }
    while (!own.test(seen.package) || !other.test(seen.hand)) {
      await page.clock.runFor(STEP_MS)
      for (const [side, pattern] of [
        ['package', own],
        ['hand', other],
      ] as const)
        if (!pattern.test(seen[side])) seen[side] = (await said(side)) ?? ''
    }
    expect(await counts('package')).toMatchObject({ lost })
    expect((await counts('hand')).lost).toBe(1)
    if (trouble === 'tab') {
      await until(`hasSign('package', 'answered', 'second') && axes() === 2`)
      await press('tab')
      await until('axes() === 1')
      expect(await page.isVisible('#package [data-part=second]')).toBe(false)
    }
    // Problems that occur once are over when both sides have met them.
    if (lost) await until(`document.querySelector('[data-trouble=${trouble}]').ariaPressed === 'false'`)
    await close()
  })

  it('when the API rejects everything, then the package makes few token requests, and the other side one for each request', async () => {
    await opened()
    await press('refused')
    await until(`numberOf('package', 'failed') > 15`)
    const [withPackage, byHand] = [await counts('package'), await counts('hand')]
    expect(byHand.calls).toBeGreaterThanOrEqual(byHand.failed)
    expect(withPackage.calls).toBeLessThan(withPackage.failed / 2)
    expect([withPackage.lost, byHand.lost]).toEqual([0, 0])
    await close()
  })

  it('when the clock is set an hour ahead, and back, then nothing fails', async () => {
    await opened()
    for (const answered of [30, 60]) {
      await press('clock')
      await until(`numberOf('package', 'answered') > ${answered}`)
    }
    expect(await counts('package')).toMatchObject({ failed: 0, lost: 0 })
    await close()
  })

  it('when a user uses the keyboard, then each switch is a button, and Pause stops everything that moves', async () => {
    await opened()
    await page.focus('[data-trouble=down]')
    await page.keyboard.press('Space')
    expect(await isOn('down')).toBe('true')
    await page.keyboard.press('Enter')
    expect(await isOn('down')).toBe('false')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.dataset.trouble')).toBe('slow')
    await page.focus('#pause')
    await page.keyboard.press('Enter')
    expect(await page.textContent('#pause')).toBe('Go on')
    const look = `Array.from(document.querySelectorAll('.strip'), ({ style }) => style.transform).join() + document.querySelector('#sides').textContent`
    await page.clock.runFor(1_000) // requests in flight end
    const before = await page.evaluate(look)
    await page.clock.runFor(3_000)
    expect(await page.evaluate(look)).toBe(before)
    await page.click('#pause')
    await page.clock.runFor(3_000)
    expect(await page.evaluate(look)).not.toBe(before)
    await close()
  })

  it('when a screen reader is used, then it reads a sentence of each side at most every six seconds', async () => {
    await opened()
    // An installed clock also follows the real one, and what is said would be dated a moment after the page's own look.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1_000)
    await page.evaluate(`void (globalThis.heard = [], new MutationObserver(() =>
      heard.push([performance.now(), document.querySelector('#spoken').textContent])).observe(document.querySelector('#spoken'), { childList: true }))`)
    await press('down')
    await until(`numberOf('package', 'failed') > 3`)
    await press('down')
    await until(`saidBy('package', 'without a new login') && heard.length > 3`)
    const heard = await page.evaluate<[number, string][]>('heard')
    for (const [, text] of heard) expect(text).toMatch(/^With the package: .+ By hand: .+/)
    const gaps = heard.slice(1).map(([at], n) => at - heard[n]![0])
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(6_000)
    const label = await page.getAttribute('#package [data-part=requests]', 'aria-label')
    expect(label).toMatch(/^Requests: (\d+ [a-z ,]+)+$/)
    await close()
  })

  it('when the page is dark, narrow, large or in forced colours, then everything has a name, and nothing scrolls sideways', async () => {
    await opened()
    await press('tab')
    await press('refused')
    await page.click('summary >> nth=1')
    await until(`hasSign('hand', 'failed')`)
    for (const { columns = 2, width = 1_280, fontSize = '', ...media } of LOOKS) {
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media })
      await page.setViewportSize({ width, height: 800 })
      await page.evaluate(`document.documentElement.style.fontSize = '${fontSize}'`)
      const seen = {
        findings: await findingsIn(page),
        isTooWide: await page.evaluate('document.documentElement.scrollWidth > innerWidth'),
        columns: await page.evaluate(
          `getComputedStyle(document.querySelector('#sides')).gridTemplateColumns.split(' ').length`,
        ),
      }
      expect({ ...media, width, fontSize, ...seen }).toMatchObject({ findings: [], isTooWide: false, columns })
    }
    await close()
  })

  it('when a user prefers reduced motion, then the lanes move by whole seconds', async () => {
    await opened({ reducedMotion: 'reduce' })
    const places: number[] = []
    while (places.length < 40) {
      await page.clock.runFor(STEP_MS)
      places.push(await page.evaluate<number>(`new DOMMatrix(document.querySelector('.strip').style.transform).e`))
    }
    const steps = places.slice(1).map((place, n) => Math.round(places[n]! - place))
    // A second is 28 px wide.
    expect(steps.filter((step) => step > 0 && step < 28)).toEqual([])
    expect(steps.some((step) => step > 0)).toBe(true)
    await close()
  })
})

const LOOKS: readonly {
  colorScheme?: 'dark'
  forcedColors?: 'active'
  width?: number
  fontSize?: string
  columns?: number
}[] = [
  {},
  { colorScheme: 'dark' },
  { colorScheme: 'dark', width: 320, columns: 1 },
  { width: 360, columns: 1 },
  { forcedColors: 'active' },
  { fontSize: '200%' },
]

/** Functions for conditions in the page. */
const HELP = `globalThis.part = (side, name) => document.querySelector('#' + side + ' [data-part=' + name + ']'),
  globalThis.numberOf = (side, name) => Number(part(side, name).textContent),
  globalThis.saidBy = (side, text) => part(side, 'says').textContent.includes(text),
  globalThis.hasSign = (side, kind, lane = 'requests') => part(side, lane).querySelector('.' + kind) !== null,
  globalThis.axes = () => document.querySelectorAll('#inspector [role=img]').length`

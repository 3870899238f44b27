// npm run docs:live: records examples/spa in Chromium (CHROMIUM, or on PATH), light and dark, into docs/images. Run it by hand, because no two
// recordings are the same. It checks each recording: the file must be small, and the picture must move.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import sharp from 'sharp'
import findChromium from '../../test/support/chromium-setup.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))
const SCHEMES = ['light', 'dark']
const FRAME_MS = 500
const MOST_BYTES = 400 * 1_024
/** Long enough that the service can throttle for 10 s late in the life of a token; short enough that the recording shows a renewal. */
const LIFETIME_SECONDS = 14

findChromium()
if (!process.env.TEST_CHROMIUM) process.exit(1)
const example = spawn(process.execPath, [`${project}examples/spa/spa.mjs`, '0', LIFETIME_SECONDS], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [printed] = await once(example.stdout, 'data')
const address = /http:\S+/.exec(printed.toString())[0]
const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync', '--hide-scrollbars'],
})
const context = await browser.newContext({ viewport: { width: 800, height: 450 }, deviceScaleFactor: 1.5 })
const page = await context.newPage()
await page.goto(address)
await page.fill('[name=password]', 'lovelace')

/** What happens, and when, s. */
const SCENES = [
  [1.5, () => page.click('#login button')],
  [3.5, openAnother],
  [6.5, () => page.click('[name=revoke]')],
  [18.5, () => page.click('[name=throttle]')],
  [23, undefined],
]
const frames = await record(SCENES)
await browser.close()
example.kill()
for (const scheme of SCHEMES) await write(scheme)

async function openAnother() {
  const other = await context.newPage()
  await other.goto(address)
  await page.bringToFront()
}

/** Takes the same moment in both schemes. @returns frames with the time since the first, ms. */
async function record(scenes) {
  const frames = []
  const startedAt = performance.now()
  for (const [seconds, begin] of scenes) {
    while (performance.now() - startedAt < seconds * 1_000) {
      const at = performance.now() - startedAt
      const frame = { at }
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        frame[colorScheme] = await page.screenshot({ caret: 'initial' })
      }
      frames.push(frame)
      const restMs = FRAME_MS - (performance.now() - startedAt - at)
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
    }
    await begin?.()
  }
  return frames
}

async function write(scheme) {
  const delay = frames.map(({ at }, n) => Math.round((frames[n + 1]?.at ?? at + 2_000) - at))
  const pictures = frames.map((frame) => frame[scheme])
  const made = await sharp(pictures, { join: { animated: true } })
    .webp({ lossless: true, effort: 6, minSize: true, loop: 0, delay })
    .toBuffer()
  const file = `docs/images/live-${scheme}.webp`
  const { pages, pageHeight, width } = await sharp(made, { animated: true }).metadata()
  const seen = new Set()
  for (let n = 0; n < pages; n += 1)
    seen.add((await sharp(made, { page: n }).resize(200).raw().toBuffer()).toString('base64'))
  console.log(
    `${file}: ${width} x ${pageHeight}, ${pages} frames of ${seen.size} kinds, ${(made.length / 1_024).toFixed(0)} KiB`,
  )
  if (made.length > MOST_BYTES) throw new Error(`${file} would be larger than ${MOST_BYTES} bytes`)
  if (seen.size < frames.length / 2) throw new Error(`${file} would hardly move`)
  writeFileSync(`${project}${file}`, made)
}

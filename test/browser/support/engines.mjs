// Real browsers, with the few commands that tests and soaks of several engines need.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { startChromium, startFirefox } from './puppeteer-engines.mjs'
import { startWebKit } from './webkit-engine.mjs'

/** Their common names. */
export const NAMES = { chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKitGTK' }

/** The names of the requested engines: those in ENGINES, `chromium,firefox`, else all. */
export const wanted = () => process.env.ENGINES?.split(',') ?? Object.keys(NAMES)

/** @returns The requested engines that are installed, by name: functions that start one. */
export function engines() {
  const found = {}
  const chromium = chromiumFile()
  if (chromium) found.chromium = (settings) => startChromium(chromium, settings)
  const firefox = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((file) => existsSync(file))
  if (firefox) found.firefox = (settings) => startFirefox(firefox, settings)
  if (existsSync('/usr/bin/WebKitWebDriver') && existsSync('/usr/bin/xvfb-run')) found.webkit = startWebKit
  return Object.fromEntries(Object.entries(found).filter(([name]) => wanted().includes(name)))
}

/** That of CHROMIUM, else one on PATH. */
function chromiumFile() {
  const { CHROMIUM, PATH = '' } = process.env
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const files = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  return (CHROMIUM ? [CHROMIUM] : files).find((file) => existsSync(file))
}

// Finds a Chromium for the suites that need one, once for the whole run: at CHROMIUM, else on PATH, else Debian's package, if this process
// may install it.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { aptInstall } from './apt-install.mjs'

export default function setup() {
  if (!binary()) aptInstall('chromium')
  const found = binary()
  process.env.TEST_CHROMIUM = found ?? ''
  if (found) return
  const advice = 'no chromium on PATH or at CHROMIUM, and none could be installed (apt-get as root)'
  if (process.env.CI) throw new Error(`${advice}: the browser suites cannot run`)
  console.warn(`\nSKIPPED: suites that need a browser: ${advice}.`)
}

function binary() {
  const { CHROMIUM, PATH = '' } = process.env
  const files = PATH.split(delimiter).flatMap((folder) =>
    ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)),
  )
  return (CHROMIUM ? [CHROMIUM] : files).find((file) => existsSync(file))
}

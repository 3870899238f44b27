// Finds the browsers for the suites that need some, once for the whole run: Chromium, Firefox and, where the machine has it, WebKit.
import { existsSync } from 'node:fs'
import { aptInstall } from './apt-install.mjs'
import findChromium from './chromium-setup.mjs'

const hasFirefox = () => ['/usr/bin/firefox-esr', '/usr/bin/firefox'].some((file) => existsSync(file))

export default function setup() {
  findChromium()
  if (!hasFirefox()) aptInstall('firefox-esr')
  if (hasFirefox()) return
  const advice = 'no firefox in /usr/bin, and none could be installed (apt-get as root)'
  if (process.env.CI) throw new Error(`${advice}: the suites of several engines cannot run`)
  console.warn(`\nSKIPPED: suites in Firefox: ${advice}.`)
}

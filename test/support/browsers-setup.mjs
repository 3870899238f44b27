// Finds the browsers that a run requests, once for the whole run, and prints which suites do not run.
import { engines, NAMES, wanted } from '../browser/support/engines.mjs'
import { aptInstall } from './apt-install.mjs'
import findChromium from './chromium-setup.mjs'

/** Debian packages. */
const PACKAGES = { firefox: ['firefox-esr'], webkit: ['webkit2gtk-driver', 'xvfb', 'xauth'] }

export default function setup() {
  findChromium()
  const left = Object.keys(NAMES).filter((name) => !wanted().includes(name))
  if (left.length > 0)
    console.log(`\nLEFT OUT: ${left.map((name) => NAMES[name]).join(' and ')}, see npm run test:engines.`)
  for (const name of wanted().filter((name) => name in PACKAGES)) find(name)
}

function find(name) {
  if (name in engines()) return
  PACKAGES[name].forEach(aptInstall)
  if (name in engines()) return
  const missing = `no ${NAMES[name]} in /usr/bin, and none could be installed (apt-get as root)`
  if (process.env.CI) throw new Error(`${missing}: its suites cannot run`)
  console.warn(`\nSKIPPED: suites in ${NAMES[name]}: ${missing}.`)
}

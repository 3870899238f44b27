// For programs outside this folder: only here the driver is installed.
export { chromium } from 'playwright-core'

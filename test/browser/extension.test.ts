import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import puppeteer, { type Browser, type Page, type Target, TargetType } from 'puppeteer-core'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { describeBrowser, FLAGS } from './support/browser.ts'

const isWorker = (target: Target) => target.type() === TargetType.SERVICE_WORKER

const FOLDER = join('examples', 'extension')

describeBrowser('given an extension (Manifest V3) whose service worker keeps a login', () => {
  let service: SimulatedService
  let folder: string
  let browser: Browser
  let popup: Page
  beforeAll(async () => {
    service = await startTokenService({ accessLifetimeMs: 600_000 })
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'extension-'))
    await bundle(folder, service)
    const options = { executablePath: process.env.TEST_CHROMIUM!, pipe: true, enableExtensions: [folder], args: FLAGS }
    browser = await puppeteer.launch({ ...options, protocolTimeout: 300_000 })
    const worker = await browser.waitForTarget(isWorker, { timeout: 300_000 })
    popup = await browser.newPage()
    await popup.goto(worker.url().replace('background.js', 'popup.html'))
  })
  afterEach(async () => {
    await browser.close()
    rmSync(folder, { recursive: true })
  })

  const ask = (message: object) =>
    popup.evaluate(`chrome.runtime.sendMessage(${JSON.stringify(message)})`) as Promise<{ code?: string }>
  const askTen = () => Promise.all(Array.from({ length: 10 }, () => ask({ path: '/wallet' })))
  const stop = async () => {
    const target = browser.targets().find(isWorker)!
    const stopped = new Promise<void>((done) => browser.on('targetdestroyed', (one) => one === target && done()))
    await (await target.worker())!.close()
    await stopped
  }

  it('when the worker is stopped and started again, then the login is not lost, and ten requests cause one refresh', async () => {
    expect(await ask({ path: '/wallet' })).toEqual({ code: 'ERR_LOGIN_REQUIRED' })
    const { accessToken, refreshToken } = await service.logIn()
    expect(await ask({ grant: { accessToken, refreshToken, accessLifetimeMs: 600_000 } })).toEqual({})
    expect((await askTen()).map(({ code }) => code)).toEqual(Array(10).fill(undefined))
    for (let refreshes = 0; refreshes < 3; refreshes += 1) {
      await stop()
      expect(browser.targets().filter(isWorker)).toEqual([])
      service.revokeAccessTokens()
      expect((await askTen()).map(({ code }) => code)).toEqual(Array(10).fill(undefined))
      expect(service.count('refresh')).toBe(refreshes + 1)
    }
  })
})

/** The extension, with the addresses of the service. */
async function bundle(folder: string, { baseUrl, tokenEndpoint, revocationEndpoint }: SimulatedService): Promise<void> {
  const addresses = {
    'https://id.example.com/token': tokenEndpoint,
    'https://id.example.com/revoke': revocationEndpoint,
  }
  const placed = (text: string) =>
    Object.entries({ ...addresses, 'https://payments.example.com': baseUrl }).reduce(
      (all, [name, value]) => all.replaceAll(name, value),
      text,
    )
  const args = [resolve('node_modules/esbuild/bin/esbuild'), join(FOLDER, 'background.js'), '--bundle', '--format=esm']
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: Infinity })
  writeFileSync(join(folder, 'background.js'), placed(stdout))
  writeFileSync(join(folder, 'popup.html'), '<!doctype html>')
  // A pattern has no port.
  const manifest = readFileSync(join(FOLDER, 'manifest.json'), 'utf8')
  writeFileSync(join(folder, 'manifest.json'), manifest.replace(/https:\/\/\w+\.example\.com/g, 'http://127.0.0.1'))
}

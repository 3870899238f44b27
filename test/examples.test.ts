import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeRedis } from './support/redis-server.ts'

/** Holds the package as it is built, where the examples find it, and the examples. */
let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join('node_modules', '.evergreen-'))
  const built = join(dir, 'node_modules', 'axios-evergreen')
  await cp('package.json', join(built, 'package.json'))
  await cp('examples', join(dir, 'examples'), { recursive: true })
  const { code, printed } = await run([
    '--input-type=module',
    '--eval',
    `import { build } from 'rolldown'
     const { default: [esm] } = await import(${JSON.stringify(pathToFileURL(resolve('rolldown.config.mjs')).href)})
     await build({ ...esm, output: { ...esm.output, dir: ${JSON.stringify(join(built, 'dist'))} } })`,
  ])
  if (code !== 0) throw new Error(printed)
}, 60_000)

afterAll(() => rm(dir, { recursive: true }))

function run(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 }
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, printed: stdout + stderr }),
    )
  })
}

const example = (path: string, args: string[] = [], env = {}) => run([join(dir, 'examples', path), ...args], env)

describe('given the example of two steady clients', () => {
  it('when it is run, then it says at its end that everything went well', async () => {
    const { code, printed } = await example('demo/demo.mjs')
    expect([code, printed]).toEqual([0, expect.stringContaining('held   every request succeeded')])
  }, 60_000)
})

describe('given the example of a fleet', () => {
  it.each([
    ['REDIS_URL leads nowhere', { REDIS_URL: 'redis://127.0.0.1:1' }, 'No Redis answers at REDIS_URL'],
    ['there is no redis-server', { PATH: '' }, 'There is no redis-server on PATH'],
  ])('when %s, then it ends at once and says what to do', async (_, env, message) => {
    const { code, printed } = await example('fleet/fleet.mjs', [], { REDIS_URL: '', ...env })
    expect([code, printed]).toEqual([1, expect.stringContaining(message)])
    expect(printed).toContain('Install redis-server, or set REDIS_URL')
  })

  describeRedis('and a Redis server', () => {
    it('when it is run, then those who share make fewer token calls, and no request fails', async () => {
      const { code, printed } = await example('fleet/fleet.mjs', ['4'])
      const calls = [...printed.matchAll(/(\d+) token calls, [1-9]\d* requests served, 0 failed/g)].map(([, n]) =>
        Number(n),
      )
      expect([code, calls.length]).toEqual([0, 2])
      expect(calls[1]).toBeLessThan(calls[0]! / 2)
    }, 60_000)
  })
})

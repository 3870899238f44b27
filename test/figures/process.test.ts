import { expect, it } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { clientCredentialsOf, startService } from '../support/service.ts'
import { bundleSource } from '../support/bundle.ts'

it('a process with a live token', async () => {
  const bundle = await bundleSource()
  const service = await startService()
  const program = `
    import axios from 'axios'
    import { attachBearer, clientCredentials, createTokenManager } from ${JSON.stringify(bundle.url)}
    const tokens = createTokenManager({ source: clientCredentials(${JSON.stringify(clientCredentialsOf(service))}) })
    const api = axios.create({ baseURL: ${JSON.stringify(service.baseUrl)} })
    attachBearer(api, tokens)
    await api.get('/wallet')
    process.on('exit', () => process.stdout.write(tokens.status().phase + ' ' + (performance.now() - last)))
    const last = performance.now()
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd: process.cwd() })
  let printed = ''
  let complained = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()))
  const [code] = (await once(child, 'exit')) as [number]
  await service.close()
  await bundle.remove()
  const [phase, ms] = printed.split(' ')
  expect([code, complained, phase]).toEqual([0, '', 'fresh'])
  expect(Number(ms)).toBeLessThan(200)
})

import { expect, it } from '@jest/globals'
import { run, withChildren } from '../faults/support/child.ts'
import { clientCredentialsOf, startService } from '../support/service.ts'

withChildren()

it('a process with a live token', async () => {
  const service = await startService()
  const child = run(`
    const tokens = createTokenManager({ source: clientCredentials(${JSON.stringify(clientCredentialsOf(service))}) })
    const api = axios.create({ baseURL: ${JSON.stringify(service.baseUrl)} })
    attachBearer(api, tokens)
    await api.get('/wallet')
    say('held by ' + await holders())
    process.on('exit', () => say('ended ' + tokens.status().phase))
  `)
  expect([await child.ended, child.complaints]).toEqual([0, ''])
  await service.close()
  expect(child.lines).toEqual(['held by ', 'ended fresh'])
})

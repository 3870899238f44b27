import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { type SimulatedService, type SimulatedServiceOptions, startTokenService } from '../../tools/testing/index.ts'
import { type Child, run, withChildren } from './support/child.ts'
import { holdAnswer } from './support/held-responses.ts'

withChildren()

const services: SimulatedService[] = []
async function started(options: SimulatedServiceOptions = {}): Promise<SimulatedService> {
  const service = await startTokenService(options)
  services.push(service)
  return service
}
afterEach(() => Promise.all(services.splice(0).map((service) => service.close())))

const literal = (value: unknown) => JSON.stringify(value)
const tokenCalls = ({ log }: SimulatedService) =>
  log.filter(({ kind }) => kind !== 'resource').map(({ kind, status }) => `${kind} ${status}`)

/** The start of a program: a manager of Variant B that reports every suspicion. */
const manager = ({ login }: SimulatedService, baseUrl: string, options = '') => `
  const source = loginPassword(${literal({ baseUrl, ...login })})
  const tokens = createTokenManager({ source, ${options} })
  tokens.on('suspicious', ({ evidence }) => say('suspicious ' + evidence))
`

async function end(child: Child): Promise<unknown[]> {
  return [await child.ended, child.complaints]
}

describe('given a script that has made its last request (F119)', () => {
  it.each([
    ['while-used', 'http'],
    ['always', 'http'],
    ['never', 'http'],
    ['always', 'fetch'],
  ])(
    'when its token is still valid, keepWarm is %s and the adapter %s, then the library does not keep it alive',
    async (keepWarm, adapter) => {
      const service = await started()
      const child = run(`
        ${manager(service, service.baseUrl, `renewal: { keepWarm: '${keepWarm}' }`)}
        const api = axios.create({ baseURL: ${literal(service.baseUrl)}, adapter: '${adapter}' })
        attachBearer(api, tokens)
        await api.get('/wallet')
        say('held by ' + await holders())
        process.on('exit', () => say('ended ' + tokens.status().phase))
      `)
      expect(await end(child)).toEqual([0, ''])
      expect(child.lines).toEqual(['held by ', 'ended fresh'])
    },
  )
})

describe('given a request that the API rejects, and that cannot be sent again', () => {
  it.each(['createTokenManager({ source: { id: "own", obtain: next } })', 'handMade'])(
    'when %s receives no other token, then the library does not keep the process alive (F168)',
    async (tokens) => {
      const service = await started()
      const child = run(`
        const { Readable } = await import('node:stream')
        const given = [Promise.resolve({ accessToken: 'revoked', accessLifetimeMs: 60_000 })]
        const next = async () => given.shift() ?? (say('asked for another'), new Promise(() => {}))
        const handMade = { peekAccessToken: () => 'revoked', getAccessToken: next, replaceAccessToken: () => (given.pop(), next()) }
        const api = axios.create({ baseURL: ${literal(service.baseUrl)} })
        const tokens = ${tokens}
        attachBearer(api, tokens)
        await tokens.getAccessToken()
        const { message } = await api.post('/upload', Readable.from(['once'])).catch((error) => error)
        say(message)
        say('held by ' + await holders())
      `)
      expect(await child.said('held by ')).toBe('')
      expect(await end(child)).toEqual([0, ''])
      expect(child.lines.slice(0, 2)).toEqual(['asked for another', expect.stringContaining('401')])
    },
  )

  it.each(['A', 'B'] as const)(
    'when the token service of variant %s hangs, then its token request keeps the process alive no longer than the request (F168)',
    async (variant) => {
      const service = await started()
      const source = variant === 'A' ? 'clientCredentials' : 'loginPassword'
      const account = variant === 'A' ? service.client : service.login
      const child = run(`
        const { Readable } = await import('node:stream')
        const api = axios.create({ baseURL: ${literal(service.baseUrl)} })
        const source = ${source}({ baseUrl: ${literal(service.baseUrl)}, ...${JSON.stringify(account)} })
        const tokens = createTokenManager({ source })
        attachBearer(api, tokens)
        await tokens.getAccessToken()
        say('ready')
        await heard('all is refused')
        const { message } = await api.post('/upload', Readable.from(['once'])).catch((error) => error)
        const { obtains, refreshes } = tokens.status().counts
        say(message + ', ' + (obtains + refreshes) + ' token calls')
        // After these turns, the second token request is in flight.
        for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        say('held by ' + await holders())
      `)
      await child.said('ready')
      service.failNext('obtain', { hang: true }, 9)
      service.failNext('refresh', { hang: true }, 9)
      service.revokeAccessTokens()
      child.tell('all is refused')
      expect(await child.said('held by ')).toBe('')
      expect(await end(child)).toEqual([0, ''])
      expect(child.lines[1]).toBe('Request failed with status code 401, 2 token calls')
    },
  )

  it('when a request waits for the socket of such a token request, then it keeps the process alive again (F168)', async () => {
    const service = await started()
    const child = run(`
      const { Agent } = await import('node:http')
      const { Readable } = await import('node:stream')
      const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 })
      const baseUrl = ${literal(service.baseUrl)}
      const source = clientCredentials({ baseUrl, ...${literal(service.client)}, transport: { httpAgent } })
      const tokens = createTokenManager({ source })
      const api = axios.create({ baseURL: baseUrl, httpAgent })
      attachBearer(api, tokens)
      await tokens.getAccessToken()
      say('ready')
      await heard('all is refused')
      const refused = api.post('/upload', Readable.from(['once'])).catch((error) => say(error.message))
      await refused
      const { status } = await axios.get(baseUrl + '/wallet', { httpAgent, validateStatus: null })
      say('answered ' + status)
    `)
    await child.said('ready')
    service.revokeAccessTokens()
    child.tell('all is refused')
    await child.said('answered ')
    expect(await end(child)).toEqual([0, ''])
  })

  it('when the manager is closed before the response, then it waits for the response, and keeps the process alive (F122)', async () => {
    const service = await started()
    const between = await holdAnswer(service.baseUrl, '/token/refresh/')
    const child = run(`
      const { Readable } = await import('node:stream')
      ${manager(service, between.baseUrl)}
      const api = axios.create({ baseURL: ${literal(service.baseUrl)} })
      attachBearer(api, tokens)
      await tokens.getAccessToken()
      say('ready')
      await heard('all is refused')
      await api.post('/upload', Readable.from(['once'])).catch(() => {})
      await heard('the answer is held')
      const closed = tokens.close()
      say('held by ' + await holders())
      await closed
      say('closed')
    `)
    await child.said('ready')
    service.revokeAccessTokens()
    child.tell('all is refused')
    await between.holding
    child.tell('the answer is held')
    expect(await child.said('held by ')).not.toBe('')
    between.release()
    expect(await end(child)).toEqual([0, ''])
    expect(child.lines.at(-1)).toBe('closed')
    expect(tokenCalls(service)).toEqual(['obtain 200', 'refresh 200'])
  })
})

describe('given a program without listeners', () => {
  it('when every renewal fails, awaited or not, then the program continues to its end (F103, F120)', async () => {
    const service = await started()
    const child = run(`
      ${manager(service, service.baseUrl, 'retry: { maxAttempts: 1 }').replace(/tokens\.on.*/, '')}
      await tokens.getAccessToken()
      say('ready')
      await heard('it is down')
      const left = createTokenManager({ source, retry: { maxAttempts: 1 } })
      const caller = new AbortController()
      void tokens.renew().catch(({ code }) => say('the waiter was told ' + code))
      void left.renew({ signal: caller.signal }).catch(({ name }) => say('the other left by ' + name))
      caller.abort()
      while (tokens.status().renewing || left.status().renewing) await new Promise((resolve) => setImmediate(resolve))
      say('alive ' + left.status().lastError)
    `)
    await child.said('ready')
    await service.close()
    child.tell('it is down')
    // Its only warning is that the account has two managers (F382).
    expect(await end(child)).toEqual([0, expect.stringMatching(/^\(node:\d+\) \[second-manager\] (?!.*\(node:)/s)])
    expect(child.lines.slice(1)).toEqual([
      'the other left by AbortError',
      'the waiter was told ERR_TOKEN_SERVICE_UNAVAILABLE',
      'alive ERR_TOKEN_SERVICE_UNAVAILABLE',
    ])
  })
})

describe('given a refresh that the service has executed, and whose response is in transit', () => {
  it('when the process is killed, then the next one starts from the credentials, and reports no suspicion (F121)', async () => {
    const service = await started()
    const between = await holdAnswer(service.baseUrl, '/token/refresh/')
    const program = `
      ${manager(service, between.baseUrl)}
      await tokens.getAccessToken()
      say('has a token')
      await heard('renew')
      await tokens.renew()
      say('has the next one')
      await tokens.close()
    `
    const killed = run(program)
    await killed.said('has a token')
    killed.tell('renew')
    await between.holding
    killed.signal('SIGKILL')
    expect(await killed.ended).toBe('SIGKILL')
    expect(tokenCalls(service)).toEqual(['obtain 200', 'refresh 200'])
    between.release()
    const restarted = run(program)
    await restarted.said('has a token')
    restarted.tell('renew')
    expect(await end(restarted)).toEqual([0, ''])
    // The token set of the second process is valid, too: nothing of the first one is in the way.
    expect(tokenCalls(service)).toEqual(['obtain 200', 'refresh 200', 'obtain 200', 'refresh 200'])
    expect([...killed.lines, ...restarted.lines]).toEqual(['has a token', 'has a token', 'has the next one'])
  })

  it('when it receives SIGTERM and closes its manager, then the manager waits for the response and keeps the token set (F122)', async () => {
    const service = await started()
    const between = await holdAnswer(service.baseUrl, '/token/refresh/')
    const child = run(`
      const store = memoryStore()
      ${manager(service, between.baseUrl, 'store')}
      process.once('SIGTERM', async () => {
        const closed = tokens.close().then(() => say('closed'))
        say('closing')
        await closed
        const heir = createTokenManager({ source, store })
        await heir.getAccessToken()
        await heir.renew()
        say('the heir made ' + heir.status().counts.refreshes + ' refresh, ' + heir.status().counts.obtains + ' obtain')
        await heir.close()
      })
      await tokens.getAccessToken()
      await tokens.renew().catch(({ code }) => say('the waiter was told ' + code))
    `)
    await between.holding
    child.signal('SIGTERM')
    await child.said('closing')
    await child.said('the waiter was told ERR_CLOSED')
    expect(child.lines).not.toContain('closed')
    between.release()
    expect(await end(child)).toEqual([0, ''])
    expect(child.lines.slice(-2)).toEqual(['closed', 'the heir made 1 refresh, 0 obtain'])
    expect(tokenCalls(service)).toEqual(['obtain 200', 'refresh 200', 'refresh 200'])
  })
})

describe('given a request that has its token, and waits for a connection', () => {
  it('when its process is suspended until the token has expired, then it succeeds after one rejection and one replay (F13)', async () => {
    const service = await started({ accessLifetimeMs: 6_000 })
    const child = run(`
      const { Agent } = await import('node:http')
      const { connect } = await import('node:net')
      ${manager(service, service.baseUrl, "renewal: { keepWarm: 'never' }")}
      const httpAgent = new Agent()
      httpAgent.createConnection = (where, done) => {
        httpAgent.createConnection = connect
        say('holds ' + tokens.peekAccessToken())
        heard('go').then(() => done(undefined, connect(where)))
      }
      const api = axios.create({ baseURL: ${literal(service.baseUrl)}, httpAgent })
      attachBearer(api, tokens)
      const { status } = await api.get('/wallet')
      say('served ' + status)
      await tokens.close()
    `)
    const token = await child.said('holds ')
    child.signal('SIGSTOP')
    child.tell('go')
    const isRefused = async () =>
      (await fetch(`${service.baseUrl}/probe`, { headers: { Authorization: `Bearer ${token}` } })).status === 401
    while (!(await isRefused()));
    // However slow the machine is: from here on, the clock of the service stands still, so its next token is valid.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now())
    const wallet = () => service.log.filter(({ path }) => path === '/wallet').map(({ status }) => status)
    expect(wallet()).toEqual([])
    child.signal('SIGCONT')
    expect(await end(child)).toEqual([0, ''])
    expect([child.lines.at(-1), wallet()]).toEqual(['served 200', [401, 200]])
    expect(tokenCalls(service)).toEqual(['obtain 200', 'refresh 200'])
  })
})

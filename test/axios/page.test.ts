import { afterEach, describe, expect, it } from '@jest/globals'
import axios, { AxiosError, type AxiosAdapter } from 'axios'
import { attachBearer, type AttachOptions } from '../../src/index.ts'
import { inProcess } from './support/in-process.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf, until } from './support/turns.ts'

/** Defines the globals that a page has and this process lacks. */
function onPage(href: string, baseURI?: string): void {
  Reflect.set(globalThis, 'location', { href })
  if (baseURI !== undefined) Reflect.set(globalThis, 'document', { baseURI })
}

afterEach(() => {
  for (const name of ['location', 'document']) Reflect.deleteProperty(globalThis, name)
})

/** An attached instance on a page, and its adapter calls. */
function startPage(defaults: object, options?: AttachOptions, statusOf?: Parameters<typeof inProcess>[0]) {
  const { adapter, calls } = inProcess(statusOf)
  const api = axios.create({ adapter, ...defaults })
  const { tokens, anomalies, minted } = startTokens()
  attachBearer(api, tokens, options)
  return { api, calls, anomalies, minted, sent: () => calls.map(({ authorization }) => authorization) }
}

describe('given a page at https://shop.example/app/', () => {
  it.each([undefined, '', '/', '/api', 'api', './', 'https://shop.example', '//shop.example/api'])(
    "when baseURL is %p, then only requests to the page's origin carry the token (F183)",
    async (baseURL) => {
      onPage('https://shop.example/app/')
      const { api, sent } = startPage({ ...(baseURL !== undefined && { baseURL }) })
      const [home, away] = [
        ['/x', 'x', '', 'https://shop.example/x', 'HTTPS://SHOP.EXAMPLE:443/x', '//shop.example/x'],
        ['https://other.example/x', '//other.example/x', 'http://shop.example/x', 'https://shop.example:8443/x'],
      ]
      for (const url of [...home, ...away]) await api.get(url)
      expect(sent()).toEqual([...home.map(() => 'Bearer token-1'), ...away.map(() => undefined)])
    },
  )

  it.each(['\\\\evil.example/x', '\t/evil.example/x', '\n\\evil.example/x', '\\/evil.example/x'])(
    'when baseURL is / and the browser would resolve %j to another origin, then no token is sent (F183)',
    async (url) => {
      onPage('https://shop.example/app/')
      // Browsers resolve the url like this.
      expect(new URL(`/${url}`, 'https://shop.example/').origin).toBe('https://evil.example')
      const { api, sent } = startPage({ baseURL: '/' })
      await api.get(url)
      expect(sent()).toEqual([undefined])
    },
  )

  it.each([undefined, '/', '/v1', 'v1'])(
    'when markup in the page sets another base and baseURL is %p, then relative requests go there without a token, and an anomaly reports it (F183, F216)',
    async (baseURL) => {
      onPage('https://shop.example/', 'https://evil.example/assets/')
      const { api, sent, anomalies } = startPage({ ...(baseURL !== undefined && { baseURL }) })
      await api.get('x')
      await api.get('https://shop.example/x')
      expect(sent()).toEqual([undefined, 'Bearer token-1'])
      await Promise.resolve()
      expect(anomalies).toMatchObject([
        { kind: 'origin-not-allowed', message: expect.stringContaining('https://evil.example went out without') },
      ])
    },
  )

  it("when the page's base changes, then the next request follows it", async () => {
    onPage('https://shop.example/', 'https://shop.example/')
    const { api, sent } = startPage({ baseURL: '/api' })
    await api.get('/x')
    onPage('https://shop.example/', 'https://cdn.example/')
    await api.get('/x')
    expect(sent()).toEqual(['Bearer token-1', undefined])
  })
})

describe('given an insecure page', () => {
  it.each([undefined, '/api'])('when baseURL is %p, then attaching throws and says what to do (F183)', (baseURL) => {
    onPage('http://shop.example/')
    const attach = (options?: AttachOptions) => startPage({ ...(baseURL !== undefined && { baseURL }) }, options)
    expect(() => attach()).toThrow(/must be https, got http:\/\/shop\.example.*allowInsecureHttp/)
    expect(() => attach({ allowInsecureHttp: true })).not.toThrow()
    expect(() => attach({ origins: ['https://api.example'] })).not.toThrow()
  })

  it('when the page is a file, then attaching throws and asks for an address', () => {
    onPage('file:///home/page.html')
    expect(() => startPage({})).toThrow(/set an absolute baseURL on the instance, or pass origins/)
  })
})

/** Like axios' XMLHttpRequest adapter: the request shows the URL at which the last redirect ended. */
function xhr(responseURL: (url: string) => string, status: number): AxiosAdapter {
  const adapter: AxiosAdapter = (config) => {
    const request = { responseURL: responseURL(axios.getUri(config)) }
    const response = { status, statusText: '', headers: {}, data: '', config, request }
    return Promise.reject(new AxiosError('refused', 'ERR_BAD_REQUEST', config, request, response))
  }
  return Object.defineProperty(adapter, 'adapterName', { value: 'xhr' })
}

describe('given XMLHttpRequest', () => {
  const refusedBy = (responseURL: (url: string) => string) => {
    onPage('https://shop.example/')
    let calls = 0
    const adapter = xhr((url) => {
      calls += 1
      return responseURL(url)
    }, 401)
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter, baseURL: '/api', params: { q: 'ä b' } })
    attachBearer(api, tokens)
    return { api, minted, sends: () => calls }
  }
  const here = (url: string) => new URL(url, 'https://shop.example/').href.replace(/#.*/, '')

  it('when a 401 comes from the requested URL, then the request is replayed with another token (F185)', async () => {
    for (const method of ['get', 'post', 'delete']) {
      const { api, minted, sends } = refusedBy(here)
      await failureOf(api.request({ method, url: '/x#part', data: method === 'get' ? undefined : 'body' }))
      expect([method, sends(), minted.calls]).toEqual([method, 2, 2])
    }
  })

  it('when a 401 comes from another origin, then no token is renewed (F185)', async () => {
    const { api, minted, sends } = refusedBy(() => 'https://other.example/x')
    await failureOf(api.get('/x'))
    await failureOf(api.post('/x', 'body'))
    expect([sends(), minted.calls]).toEqual([2, 1])
  })

  it('when a redirect may have turned a POST into a GET, then it is not sent again, and the next request has another token (F185)', async () => {
    const { api, minted, sends } = refusedBy(() => 'https://shop.example/there')
    await failureOf(api.post('/x', 'body'))
    expect(sends()).toBe(1)
    await until(() => minted.calls === 2)
  })

  it('when a GET is rejected at another path of its origin, then it is replayed (F185)', async () => {
    const { api, minted, sends } = refusedBy(() => 'https://shop.example/there')
    await failureOf(api.get('/x'))
    expect([sends(), minted.calls]).toEqual([2, 2])
  })

  // axios-mock-adapter reports the url of the config.
  it.each(['', undefined, '/x'])('when a test double reports %p, then a POST is replayed', async (responseURL) => {
    const { api, sends } = refusedBy(() => responseURL!)
    await failureOf(api.post('/x', 'body'))
    expect(sends()).toBe(2)
  })

  it('when the token is configured for another header, then attaching throws and says what to do (F185)', () => {
    const api = axios.create({ adapter: xhr(here, 200), baseURL: 'https://api.example' })
    const attach = () => attachBearer(api, startTokens().tokens, { header: 'X-Api-Token' })
    expect(attach).toThrow(TypeError)
    expect(attach).toThrow(/X-Api-Token with the xhr adapter.*adapter: 'fetch'/)
    expect(() => attachBearer(api, startTokens().tokens, { header: 'AUTHORIZATION' })).not.toThrow()
  })

  it('when a request selects it and the token has another header, then the request is not sent (F185)', async () => {
    const { api, calls } = startPage({ baseURL: 'https://api.example' }, { header: 'X-Api-Token' })
    const error = await failureOf(api.get('/x', { adapter: xhr(here, 200) }))
    expect([error.name, error.message]).toEqual(['TypeError', expect.stringContaining("adapter: 'fetch'")])
    expect(calls).toEqual([])
  })
})

describe('given the fetch of a browser', () => {
  it('when it does not follow a redirect, then the request fails instead of succeeding empty (F185)', async () => {
    const { api } = startPage({ baseURL: 'https://api.example' }, { header: 'X-Api-Token' }, () => 0)
    // axios resolves with a response that has no status. `validateStatus: null` has the same effect here.
    const error = await failureOf<AxiosError>(api.get('/x', { validateStatus: null }))
    expect(error).toMatchObject({ isAxiosError: true, code: 'ERR_FR_TOO_MANY_REDIRECTS' })
    expect(error.message).toContain('X-Api-Token')
    expect(error.config?.headers.has('X-Api-Token')).toBe(false)
    expect([error.config?.maxRedirects, error.config?.fetchOptions]).toEqual([undefined, undefined])
  })
})

import { afterEach, describe, expect, it } from '@jest/globals'
import axios, { type AxiosAdapter } from 'axios'
import { type Adapter, AdapterBeneath } from '../../src/axios/adapter-beneath.ts'
import { AttachmentState } from '../../src/axios/attachment-state.ts'
import { OriginScope } from '../../src/axios/origin-scope.ts'
import { observingRedirects, trailOf } from '../../src/axios/redirects.ts'
import { UnauthenticatedRequests } from '../../src/client/unauthenticated-requests.ts'

const { Request, Response } = globalThis
afterEach(() => void Object.assign(globalThis, { Request, Response }))

const fetchOf = () => (() => Promise.resolve(new Response())) as typeof fetch

describe('given the adapter of an instance', () => {
  const own: AxiosAdapter = () => Promise.reject(new Error('not sent'))

  it.each<[boolean, Adapter, Adapter]>([
    [true, 'http', 'http'],
    [false, 'http', 'fetch'],
    [true, own, own],
    [true, ['fetch', 'http'], ['fetch', 'http']],
    [false, ['fetch', 'http'], ['http', 'fetch']],
    [false, ['fetch', 'http'], ['fetch', 'xhr']],
    [false, ['fetch'], ['fetch', 'http']],
    [false, ['fetch', 'http'], ['fetch']],
    [false, 'fetch', ['fetch']],
    [false, ['fetch'], 'fetch'],
  ])('then `isOf` returns %s, for %j and %j', (isSame, one, other) => {
    expect(new AdapterBeneath({ adapter: one }).isOf({ adapter: other })).toBe(isSame)
  })

  it('when its owner or other code changes the list, then the choice stays', async () => {
    const list: ('fetch' | 'http')[] = ['fetch']
    const given: unknown[] = []
    const wrapper = new AdapterBeneath({ adapter: list }).wrapped(({ adapter }) => {
      given.push([...(adapter as string[])])
      ;(adapter as string[]).push('xhr')
      return Promise.resolve({} as never)
    })
    list.push('http')
    await wrapper({} as never)
    await wrapper({} as never)
    expect(given).toEqual([['fetch'], ['fetch']])
  })

  it('when it is a function, then that function is the sender', () => {
    expect(new AdapterBeneath({ adapter: own }).sender({ env: {} } as never)).toBe(own)
  })
})

describe('given an env whose fetch needs a marker, and the sender for it', () => {
  const env = { fetch: fetchOf(), Request: null }
  const beneath = new AdapterBeneath({ adapter: 'fetch' })
  const senderFor = (env: object | undefined) => beneath.sender({ env } as never)

  it('when the next request has the same members in its env, then it has the same sender', () => {
    expect(senderFor({ ...env })).toBe(senderFor(env))
  })

  it.each([
    ['another fetch', { ...env, fetch: fetchOf() }],
    ['an extra member', { ...env, more: undefined }],
    ['a missing member', { Request: null }],
    ['no env', undefined],
  ])('when the next request has %s, then it has its own sender', (_, other) => {
    const sender = senderFor(env)
    expect(senderFor(other)).not.toBe(sender)
    expect(senderFor(env)).not.toBe(sender)
  })

  it('when the owner has changed the env, then the next request has its own sender', () => {
    const own: { fetch: typeof fetch; Request: null } = { ...env }
    const sender = senderFor(own)
    expect(senderFor(own)).toBe(sender)
    own.fetch = fetchOf()
    expect(senderFor(own)).not.toBe(sender)
  })

  it.each(['Request', 'Response'] as const)(
    'when a test tool has replaced %s, then the next request has another sender',
    (name) => {
      const sender = senderFor(env)
      Reflect.set(globalThis, name, () => undefined)
      expect(senderFor(env)).not.toBe(sender)
    },
  )
})

describe('given the wrapper that replaces an adapter', () => {
  const shared = { instance: axios.create(), scope: new OriginScope(), unauthenticated: new UnauthenticatedRequests() }
  const begin = () => new AttachmentState(new Map(), shared)
  const now = begin()

  it('when two requests have the same adapter, then they share the wrapper', () => {
    const wrapper = now.wrapperFor({ adapter: 'http' })
    expect(now.wrapperFor({ adapter: 'http' })).toBe(wrapper)
    expect(now.wrapperFor({ adapter: 'fetch' })).not.toBe(wrapper)
  })

  it('when a login has begun between them, then they do not share it', () => {
    const wrapper = now.wrapperFor({ adapter: 'http' })
    expect(begin().wrapperFor({ adapter: 'http' })).not.toBe(wrapper)
  })

  it('when the adapter is a wrapper, of this or of another copy of the package, then it is wrapped at most once more', () => {
    const wrapper = now.wrapperFor({ adapter: 'http' })
    expect(Reflect.get(wrapper, Symbol.for('axios-evergreen.adapter'))).toBe('http')
    expect(begin().wrapperFor({ adapter: wrapper })).not.toBe(wrapper)
    expect(now.wrapperFor({ adapter: wrapper })).toBe(wrapper)
  })
})

describe('given a fetch that observes redirects', () => {
  const sent = { config: undefined as unknown }
  const adapter: AxiosAdapter = (config) => {
    sent.config = config
    return Promise.reject(new Error('not sent'))
  }
  /** The fetch that axios receives. */
  const tellerFor = (env: object) => {
    let reported: typeof fetch | undefined
    observingRedirects(env, (given) => {
      reported = (given as { fetch: typeof fetch }).fetch
      return adapter
    })
    return reported!
  }

  it('when axios makes a Request, then its adapter is unchanged', () => {
    expect(observingRedirects(undefined, () => adapter)).toBe(adapter)
  })

  it('when axios makes none, then the options of each request have a marker', async () => {
    const marking = observingRedirects({ Request: null } as never, () => adapter)
    await marking({ fetchOptions: { cache: 'no-store' } } as never).catch(() => undefined)
    const { fetchOptions } = sent.config as { fetchOptions: object }
    expect(fetchOptions).toMatchObject({ cache: 'no-store' })
    expect(Object.getOwnPropertySymbols(fetchOptions)).toHaveLength(1)
  })

  it('when two requests have the same fetch, then axios receives the same wrapper', () => {
    const env = { fetch: fetchOf() }
    expect(tellerFor(env)).toBe(tellerFor({ ...env }))
    expect(tellerFor(env)).not.toBe(tellerFor({ fetch: fetchOf() }))
  })

  it('when it receives a Request, then that Request prints no headers', async () => {
    const request = new Request('https://api.example.com/a', { headers: { Authorization: 'Bearer secret' } })
    await tellerFor({ fetch: fetchOf() })(request)
    expect(JSON.stringify(request)).toBe('"Request GET https://api.example.com/a"')
  })

  it('when a hand-made response has `redirected` set, then the request has not left its origin', async () => {
    const url = 'https://api.example.com/a'
    const request = new Request(url)
    const redirected = Object.defineProperty(new Response(), 'redirected', { value: true })
    await tellerFor({ fetch: () => Promise.resolve(redirected) })(request)
    expect(trailOf({ url } as never, request)).toBe('within')
  })
})

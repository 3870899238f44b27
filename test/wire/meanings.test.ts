import { describe, expect, it } from '@jest/globals'
import { AxiosHeaders } from 'axios'
import { read } from '../../src/wire/meaning.ts'
import { proxyOf } from '../../src/wire/proxy.ts'
import { generalAdvice } from '../../src/wire/error-response.ts'
import { toTokenError } from '../../src/wire/to-token-error.ts'

const URL_OF_TOKENS = new URL('https://login.example/token/')

describe('given a response of a token service', () => {
  it.each([
    [499, 'ERR_TOKEN_REQUEST'],
    [500, 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    [599, 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    [600, 'ERR_TOKEN_RESPONSE'],
    [299, 'ERR_TOKEN_RESPONSE'],
    [300, 'ERR_TOKEN_REQUEST'],
  ])('when its status is %i, then it means %s', (status, code) => {
    expect([read('obtain', { status }).code, read('refresh', { status }).code]).toEqual([code, code])
  })

  const adviceOn = (status: number, location?: string) =>
    generalAdvice(
      read('obtain', { status }),
      {
        status,
        url: URL_OF_TOKENS,
        address: URL_OF_TOKENS.href,
        text: '',
        headers: new AxiosHeaders(location === undefined ? {} : { location }),
        retryAfterMs: undefined,
        sent: [],
      },
      'baseUrl',
    )

  it.each([
    [511, 'this network requires a login'],
    [503, 'the token service failed'],
    [408, 'the token service did not complete the request'],
    [407, 'a proxy requires credentials; check transport.proxy, or HTTPS_PROXY'],
    [404, undefined],
  ])('when its status is %i, then the advice is: %s', (status, advice) => {
    expect(adviceOn(status)).toBe(advice)
  })

  it.each([
    ['https://login.example/token', 'that changes only the trailing slash'],
    ['/login/', 'to another path'],
    ['http://login.example/token/', 'to plain http'],
    ['https://elsewhere.example/token/', 'to another origin'],
  ])('when it redirects to %s, then the advice states the difference', (location, difference) => {
    expect(adviceOn(302, location)).toBe(`a redirect ${difference}; token requests follow no redirects, check baseUrl`)
  })

  it('when it redirects without a Location, then the advice states it', () => {
    expect(adviceOn(302)).toBe('a redirect without a valid target; check baseUrl')
  })
})

describe('given a value that a source threw', () => {
  it.each([
    [99, undefined],
    [100, 100],
    [599, 599],
    [600, undefined],
    ['401', 401],
    ['fail', undefined],
    ['', undefined],
    [null, undefined],
    [Symbol('401'), undefined],
    [Object.create(null), undefined],
  ])('when its status is %p, then the error has the status %s', (status: unknown, expected) => {
    expect(toTokenError({ status }, 'obtain').status).toBe(expected)
    expect(toTokenError({ statusCode: status }, 'obtain').status).toBe(expected)
  })
})

describe('given a token request in Node', () => {
  const through = (host: string) => ({ path: URL_OF_TOKENS.href, host })
  const own = { host: 'proxy.example', port: 3128 }

  it.each<[string, object, string | undefined]>([
    ['its request line has the whole address', through('proxy.example'), 'proxy.example:3128'],
    ['the host is spelled in capitals', through('PROXY.example'), 'proxy.example:3128'],
    ['its agent makes a tunnel', { agent: { proxy: { hostname: 'proxy.example' } } }, 'proxy.example:3128'],
    ['its request line has only a path', { path: '/token/', host: 'proxy.example' }, undefined],
    ['it was sent to a host that nothing names', through('other.example'), undefined],
  ])('when %s, then the proxy is named, or none', (_, request, address) => {
    expect(proxyOf(request, URL_OF_TOKENS, own)?.address).toBe(address)
  })

  it.each([
    ['http://proxy.example', 'proxy.example:80'],
    ['https://proxy.example', 'proxy.example:443'],
    ['proxy.example:8080', 'proxy.example:8080'],
  ])('when the environment names %s, then the error has its port and the name of the variable', (value, address) => {
    process.env.https_proxy = value
    try {
      expect(proxyOf(through('proxy.example'), URL_OF_TOKENS)).toEqual({ address, setBy: 'https_proxy' })
    } finally {
      delete process.env.https_proxy
    }
  })

  it('when the host is an IPv6 address, then it is matched without its brackets', () => {
    expect(proxyOf(through('::1'), URL_OF_TOKENS, { host: '[::1]', port: 1 })?.address).toBe('[::1]:1')
  })
})

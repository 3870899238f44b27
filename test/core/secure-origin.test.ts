import { describe, expect, it } from '@jest/globals'
import { checkedSecureUrl, mayCarrySecrets } from '../../src/core/secure-origin.ts'

const may = (url: string, allowInsecureHttp = false) => mayCarrySecrets(new URL(url), allowInsecureHttp)

describe('given an address that may receive secrets', () => {
  it.each([
    ...['https://api.example', 'https://10.0.0.1', 'https://localhost.evil.com', 'HTTPS://API.EXAMPLE'],
    ...['http://localhost', 'http://LocalHost:3000'],
    ...['http://127.0.0.1', 'http://127.0.0.1:65535', 'http://127.0.0.0', 'http://127.255.255.255'],
    ...['http://127.1', 'http://0177.0.0.1', 'http://0x7f000001', 'http://2130706433', 'http://127.0.0.1.'],
    ...['http://[::1]', 'http://[::1]:80', 'http://[0::0:1]', 'http://user@localhost'],
  ])('when it is %s, then it is https or this machine', (url) => {
    expect(may(url)).toBe(true)
    expect(may(url, true)).toBe(true)
  })
})

describe('given an address that is neither https nor this machine', () => {
  const elsewhere = [
    ...[
      'http://api.example',
      'http://api.example:443',
      'http://10.0.0.1',
      'http://192.168.1.1',
      'http://169.254.169.254',
    ],
    ...['http://0.0.0.0', 'http://126.255.255.255', 'http://128.0.0.0', 'http://1.127.0.0'],
    ...['http://127.0.0.1.evil.com', 'http://127.0.0.1.nip.io', 'http://127.evil.com', 'http://127.0.0.evil'],
    ...[
      'http://localhost.evil.com',
      'http://localhost.com',
      'http://evillocalhost',
      'http://local-host',
      'http://localhost1',
    ],
    ...[
      'http://api.localhost.evil.com',
      'http://evil.com/localhost',
      'http://evil.com?.localhost',
      'http://evil.com#.localhost',
    ],
    ...[
      'http://localhost@evil.com',
      'http://127.0.0.1@evil.com',
      'http://localhost:80@evil.com',
      'http://localhost%2eevil.com',
    ],
    ...['http://[::]', 'http://[::2]', 'http://[1::1]', 'http://[::ffff:127.0.0.1]', 'http://[fe80::1]'],
  ]

  it.each([
    'http://tenant.localhost',
    'http://a.b.c.localhost:3000',
    'http://127.0.0.1.localhost',
    'http://localhost.',
  ])('when it is %s, then DNS decides where it leads, and only the user may allow it (F164)', (url) => {
    expect(may(url)).toBe(false)
    expect(may(url, true)).toBe(true)
  })

  it.each(elsewhere)('when it is %s, then only the user may allow it', (url) => {
    expect(may(url)).toBe(false)
    expect(may(url, true)).toBe(true)
  })

  it.each([
    'ftp://localhost',
    'ws://localhost',
    'wss://api.example',
    'file:///etc/hosts',
    'data:,x',
    'javascript:1',
    'blob:https://api.example/1',
  ])('when it is %s, then it cannot be allowed', (url) => {
    expect(may(url)).toBe(false)
    expect(may(url, true)).toBe(false)
  })
})

describe('given an option that names an address', () => {
  it.each(['https://api.example/v1?x=1#y', 'http://localhost:3000', 'https://API.example:443'])(
    'when it is %s, then it is parsed as a URL',
    (text) => {
      const given = new URL(text)
      const read = checkedSecureUrl('anything', given, false)
      expect(read.href).toBe(given.href)
      expect(read).not.toBe(given)
      expect(checkedSecureUrl('anything', text, false).href).toBe(given.href)
    },
  )

  it.each([
    undefined,
    null,
    5,
    {},
    [],
    '',
    'api.example',
    '/v1',
    'ftp://api.example',
    'file:///x',
    'mailto:a@b.example',
  ])('when it is %p, then a TypeError names the option and the rule', (value) => {
    expect(() => checkedSecureUrl('origins', value, true)).toThrow(TypeError)
    expect(() => checkedSecureUrl('origins', value, true)).toThrow(
      /^origins must be an? (absolute http or https )?URL, got /,
    )
  })

  it('when it is plain http, then a TypeError names the option, the address and the remedy', () => {
    const check = () => checkedSecureUrl('origins', 'http://api.example', false)
    expect(check).toThrow(TypeError)
    expect(check).toThrow(/^origins must be https, got .*http:\/\/api\.example.*allowInsecureHttp/)
    expect(checkedSecureUrl('origins', 'http://api.example', true).origin).toBe('http://api.example')
  })

  it.each([
    'https://someone:pass-word@api.example',
    'https://pass-word@api.example',
    'https://:pass-word@api.example',
    'http://someone:pass-word@localhost',
  ])('when it has a user or password, then neither is shown, allowed or not (F130)', (text) => {
    for (const allow of [false, true]) {
      const check = () => checkedSecureUrl('origins', text, allow)
      expect(check).toThrow(TypeError)
      expect(check).toThrow(/^origins must not carry a user or password/)
      expect(check).not.toThrow(/pass-word|someone/)
    }
  })
})

describe('given a host with a letter of Latin-1', () => {
  it('when it is checked again and again, then it is a URL each time', () => {
    const hosts = new Set<string>()
    for (let n = 0; n < 50_000; n += 1) hosts.add(checkedSecureUrl('baseUrl', 'https://bücher.example', false).host)
    expect([...hosts]).toEqual(['xn--bcher-kva.example'])
  })
})

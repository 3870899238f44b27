import type { TokenRegister } from 'axios-evergreen/store'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** etcd 3.4 or newer, through its JSON gateway. @param url Such as `http://127.0.0.1:2379`. */
export function etcdRegister(url: string, send: typeof fetch = fetch): TokenRegister {
  async function call(path: string, body: object) {
    const response = await send(`${url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`etcd responded with ${response.status}`)
    const now = Date.parse(response.headers.get('Date') ?? '') // one clock for all processes, in steps of one second
    return { now, ...((await response.json()) as { kvs?: { value: string }[]; ID?: string; succeeded?: boolean }) }
  }
  return {
    kind: 'etcd',
    async read(key) {
      const { kvs, now } = await call('kv/range', { key: base64(key) })
      return { now, value: kvs && Buffer.from(kvs[0]?.value ?? '', 'base64').toString() }
    },
    async replace(name, expected, value, keepMs) {
      const key = base64(name)
      const { ID: lease } = await call('lease/grant', { TTL: Math.ceil(keepMs / 1_000) })
      const stands =
        expected === undefined
          ? { target: 'CREATE', createRevision: '0' }
          : { target: 'VALUE', value: base64(expected) }
      const success = [{ requestPut: { key, value: base64(value), lease } }]
      return (await call('kv/txn', { compare: [{ key, ...stands }], success })).succeeded === true
    },
  }
}

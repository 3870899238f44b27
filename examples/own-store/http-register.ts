import type { TokenRegister } from 'axios-evergreen/store'

/**
 * Shares tokens through a storage that has conditional writes over HTTP (RFC 9110, section 13.1), as S3, R2 and Azure Blob have: an object for each
 * account. Two processes never replace the same object.
 *
 * @param send Adds what your storage requires in each call, such as a signature.
 */
export function httpRegister(folder: string, send: typeof fetch = fetch): TokenRegister {
  const addressOf = (key: string) => `${folder}/${encodeURIComponent(key)}`

  async function stored(key: string) {
    const answer = await send(addressOf(key))
    const body = await answer.text()
    if (!answer.ok && answer.status !== 404) throw new Error(`GET returned ${answer.status}`)
    return {
      value: answer.ok ? body : undefined,
      tag: answer.headers.get('ETag') ?? '',
      // All processes share the clock of the storage. It has steps of one second.
      now: Date.parse(answer.headers.get('Date') ?? ''),
    }
  }

  return {
    kind: 'storage',
    async read(key) {
      const { value, now } = await stored(key)
      return { value, now }
    },
    // `keepMs` is left out: old objects may stay. A rule of the storage can delete them after a year.
    async replace(key, expected, value) {
      const { value: stands, tag } = await stored(key)
      if (stands !== expected) return false
      const condition = stands === undefined ? ['If-None-Match', '*'] : ['If-Match', tag]
      const answer = await send(addressOf(key), { method: 'PUT', headers: [condition], body: value })
      // Another process was faster.
      if (answer.status === 412) return false
      if (!answer.ok) throw new Error(`PUT returned ${answer.status}`)
      return true
    },
  }
}

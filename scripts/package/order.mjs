import { gunzipSync, gzipSync } from 'node:zlib'

const BLOCK = 512
const FILE = '0'

/**
 * Puts the files of a packed package into another order: each file beside its twin for the other module format. gzip finds what it has seen only within the
 * last 32 KB, and npm packs all files of one extension before those of the next. Nothing else changes.
 *
 * @param {Buffer} packed What `npm pack` has written: tar, gzipped.
 * @returns {Buffer}
 */
export function withTwinsTogether(packed) {
  const entries = entriesOf(gunzipSync(packed))
  const ordered = entries.toSorted((one, other) => (one.twin < other.twin ? -1 : one.twin > other.twin ? 1 : 0))
  const end = Buffer.alloc(2 * BLOCK)
  return gzipSync(Buffer.concat([...ordered.map(({ bytes }) => bytes), end]), { level: 9 })
}

/** The files of a tar, each with its header. */
function entriesOf(tar) {
  const entries = []
  for (let at = 0; at < tar.length && tar[at] !== 0;) {
    const text = (from, to) => tar.toString('latin1', at + from, at + to).replace(/\0.*$/s, '')
    const name = text(0, 100)
    if (text(156, 157) !== FILE) throw new Error(`${name} is no plain file: order.mjs does not know how to move it`)
    const next = at + BLOCK + Math.ceil(parseInt(text(124, 136), 8) / BLOCK) * BLOCK
    entries.push({ twin: name.replace(/\.c([jt]s)$/, '.$1'), bytes: tar.subarray(at, next) })
    at = next
  }
  return entries
}

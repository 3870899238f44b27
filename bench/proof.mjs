// What a proof of possession costs, by algorithm: npm run bench:proof. Prints microseconds per proof. The proofs are made one after another, as a
// caller waits for them.
import { cpus } from 'node:os'
import { dpopKey } from '../dist/dpop.js'

const PROOFS = 2_000
const RSA = { modulusLength: 2_048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
const KEYS = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  EdDSA: { name: 'Ed25519' },
  PS256: { name: 'RSA-PSS', ...RSA },
  RS256: { name: 'RSASSA-PKCS1-v1_5', ...RSA },
}
const clock = { wallNow: () => Date.now(), monotonicNow: () => performance.now() }
const url = new URL('https://api.example/orders?page=1')

console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown CPU'}\n`)
console.log('algorithm    wall µs    CPU µs')
for (const [name, how] of Object.entries(KEYS)) {
  const key = dpopKey(await crypto.subtle.generateKey(how, false, ['sign', 'verify']))
  const proofs = key[Symbol.for('axios-evergreen.proofs')]
  const prove = (token) => proofs.prove({ method: 'GET', url, token }, clock)
  for (let n = 0; n < 200; n += 1) await prove('warm')
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()]
  for (let n = 0; n < PROOFS; n += 1) await prove('token')
  const { user, system } = process.cpuUsage(cpuBefore)
  const wall = ((performance.now() - startedAt) * 1_000) / PROOFS
  console.log(`${name.padEnd(9)}${wall.toFixed(0).padStart(11)}${((user + system) / PROOFS).toFixed(0).padStart(10)}`)
}

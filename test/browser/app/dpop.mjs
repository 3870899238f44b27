// Imports the sources, because the package does not export how a key makes proofs.
import { proofsOf } from '../../../src/core/proof-port.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { webKey } from '../../../src/dpop/index.ts'

/** @returns The thumbprint of the key of that name, and a proof. */
globalThis.proved = async (name) => {
  const key = await webKey(name)
  const request = { method: 'POST', url: new URL('https://api.example/orders?a=b'), token: 'token' }
  return { thumbprint: await key.thumbprint, proof: (await proofsOf('dpop', key).prove(request, systemClock)).text }
}
/** @returns The code, or the name, and the message of the error. */
globalThis.failed = () =>
  webKey().then(
    () => 'nothing',
    ({ code, name, message }) => `${code ?? name}: ${message}`,
  )

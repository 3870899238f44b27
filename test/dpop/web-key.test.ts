import { describe, expect, it, jest } from '@jest/globals'
import { webKey } from '../../src/dpop/index.ts'
import type { KeyPair } from '../../src/dpop/key-pair.ts'
import { indexedDbOfSuite } from '../support/indexed-db-of-suite.ts'
import { verified } from './support/verifier.ts'

// With tabs of a real browser: test/browser/dpop-key.test.ts.
const storage = indexedDbOfSuite()

const thumbprints = async (...names: string[]) => {
  const keys = await Promise.all(names.map((name) => webKey(name)))
  return Promise.all(keys.map(({ thumbprint }) => thumbprint))
}

describe('given the key of a page', () => {
  it('when it is requested twice at once, and again later, then it is the same one; another name has another', async () => {
    const [first, second, other] = await thumbprints('default', 'default', 'other')
    expect(second).toBe(first)
    expect(other).not.toBe(first)
    expect(await (await webKey()).thumbprint).toBe(first)
  })

  it('when it is stored, then it makes proofs of ES256, and no script can read its private half', async () => {
    const key = await webKey('kept')
    const { header, thumbprint } = verified(await key.prove({ method: 'GET', url: 'https://api.example' }))
    expect([header.alg, thumbprint]).toEqual(['ES256', await key.thumbprint])
    const kept = storage.databases.get('axios-evergreen.dpop')!.get('kept') as KeyPair
    expect(Object.keys(kept)).toEqual(['publicKey', 'privateKey'])
    expect(kept.privateKey.extractable).toBe(false)
  })

  it('when the browser denies its storage, then the page has a key of its own, and one warning reports it (F243)', async () => {
    storage.trouble = () => {
      throw new DOMException('denied', 'SecurityError')
    }
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const [first, second] = await thumbprints('default', 'default')
    expect(second).not.toBe(first)
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/^The DPoP key default can be neither read nor stored: .*SecurityError/),
        expect.objectContaining({ detail: expect.stringContaining('its own login') }),
      ],
    ])
  })
})

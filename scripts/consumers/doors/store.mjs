import assert from 'node:assert/strict'
import { clientCredentials, createTokenManager } from 'axios-evergreen'
import { sharedStore } from 'axios-evergreen/store'
import { startTokenService } from 'axios-evergreen/testing'

async function main() {
  const values = new Map()
  const store = sharedStore({
    kind: 'a-map',
    read: async (key) => ({ value: values.get(key), now: Date.now() }),
    async replace(key, expected, value) {
      if (values.get(key) !== expected) return false
      values.set(key, value)
      return true
    },
  })
  const service = await startTokenService()
  const owner = () =>
    createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }), store })
  const [one, other] = [owner(), owner()]
  assert.equal(await one.getAccessToken(), await other.getAccessToken())
  assert.equal(service.count('obtain'), 1)
  await one.close()
  await other.close()
  await service.close()
}

void main()

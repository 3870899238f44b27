import assert from 'node:assert/strict'
import { wrapper } from 'axios-cookiejar-support'
import { CookieJar } from 'tough-cookie'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'axios-cookiejar-support',
  put(instance) {
    const jar = new CookieJar()
    wrapper(instance)
    instance.defaults.jar = jar
    return { jar }
  },
  checks: {
    async 'the replay sends the cookie that came with the 401'({ get, api }) {
      api.failNext(401, { headers: { 'Set-Cookie': 'seen=1; Path=/' } })
      const { data } = await get('/orders')
      assert.equal(data.headers.cookie, 'seen=1')
      assert.deepEqual(api.served, [401, 200])
    },
    async 'cookies are kept from request to request'({ get, api, jar, instance }) {
      await get('/orders')
      api.failNext(200, { headers: { 'Set-Cookie': 'session=2; Path=/' } })
      await get('/login')
      assert.equal((await get('/orders')).data.headers.cookie, 'session=2')
      assert.equal(await jar.getCookieString(instance.defaults.baseURL), 'session=2')
    },
  },
})

import 'reflect-metadata'
import assert from 'node:assert/strict'
import { HttpService } from '@nestjs/axios'
import { firstValueFrom, retry } from 'rxjs'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: '@nestjs/axios',
  put(instance) {
    const http = new HttpService(instance)
    return { http, request: (config) => firstValueFrom(http.request(config)) }
  },
  checks: {
    async 'unsubscribing ends the wait for the token'({ get, http, api, holdTokenCalls }) {
      const { begun, release } = holdTokenCalls()
      const heard = []
      const subscription = http.get('/gone').subscribe((response) => heard.push(response))
      const other = get('/orders')
      await begun
      subscription.unsubscribe()
      release()
      assert.equal((await other).status, 200)
      assert.deepEqual([heard, api.served], [[], [200]])
    },
    async 'retry of rxjs gets the current token'({ http, service, clock, tokenCalls }) {
      service.failNext('obtain', { status: 503 })
      const again = http.get('/orders').pipe(retry({ count: 1, delay: () => clock.advance(10_000) }))
      assert.equal((await firstValueFrom(again)).status, 200)
      assert.equal(tokenCalls(), 2)
    },
  },
})

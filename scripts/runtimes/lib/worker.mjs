// For workerd: the worker responds to a request with the results.
import { createTokenManager, memoryStore } from 'axios-evergreen'
import { runChecks } from './run.mjs'

export { TokenObject } from '../../../examples/registers/durable-object.ts'

// The memory store holds plain data only, so requests may share it.
const store = memoryStore()
let obtained = 0

export default {
  async fetch(request, { TOKENS }) {
    const { pathname, searchParams } = new URL(request.url)
    // The object of a key, for the register of a Node process.
    if (pathname === '/object') return TOKENS.get(TOKENS.idFromName(searchParams.get('key'))).fetch(request)
    if (pathname !== '/shared') return Response.json(await runChecks(searchParams.get('origin')))
    const source = {
      id: 'shared',
      async obtain() {
        await new Promise((resolve) => setTimeout(resolve, 100))
        return { accessToken: `shared-${(obtained += 1)}`, accessLifetimeMs: 60_000 }
      },
    }
    return new Response(await createTokenManager({ source, store }).getAccessToken())
  },
}

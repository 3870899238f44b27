import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'msw',
  isMock: true,
  adapters: ['http', 'fetch'],
  put(_instance, { api }) {
    const server = setupServer(
      http.all(`${api.baseUrl}/*`, ({ request }) => {
        const { status, headers, body } = api.answer(request.headers.get('Authorization'))
        return HttpResponse.json(body, { status, headers })
      }),
    )
    // Token calls go to the simulated service.
    server.listen({ onUnhandledRequest: 'bypass' })
    return { server }
  },
  end: ({ server }) => server.close(),
})

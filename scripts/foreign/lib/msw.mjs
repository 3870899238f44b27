import { foreign } from './foreign.mjs'

/** The checks of msw, of either major. `listening`: what lets token calls go to the simulated service. */
export function checkMsw({ http, HttpResponse, setupServer }, library, listening) {
  return foreign({
    library,
    isMock: true,
    adapters: ['http', 'fetch'],
    put(_instance, { api }) {
      const server = setupServer(
        http.all(`${api.baseUrl}/*`, ({ request }) => {
          const { status, headers, body } = api.answer(request.headers.get('Authorization'))
          return HttpResponse.json(body, { status, headers })
        }),
      )
      server.listen(listening)
      return { server }
    },
    end: ({ server }) => server.close(),
  })
}

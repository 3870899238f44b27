import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { library } from './library.mjs'

/**
 * A simulated service behind a proxy for its token requests: `presented` holds, by refresh token, the workers that presented it. It also records when
 * each access token expires, and when each path of the API was requested.
 */
export async function startWatchedService(options) {
  const service = await library.startTokenService(options)
  const presented = new Map()
  const ends = new Map()
  let lost = 0
  const server = createServer(async (request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) lost += 1
    })
    const body = await text(request)
    const refreshToken = JSON.parse(body).data.attributes.refresh
    if (refreshToken !== undefined)
      presented.set(refreshToken, [...(presented.get(refreshToken) ?? []), request.headers['x-worker']])
    const answer = await fetch(service.baseUrl + request.url, {
      method: 'POST',
      headers: { 'Content-Type': request.headers['content-type'] },
      body,
    })
    const told = await answer.text()
    if (answer.ok) note(JSON.parse(told))
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') })
    response.end(told)
  })
  // The response to a refresh is the token object itself.
  function note(document) {
    const { access, access_expired_at } = (document.data ?? document).attributes
    ends.set(access, Date.parse(access_expired_at))
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    service,
    tokenUrl: `http://127.0.0.1:${server.address().port}`,
    presented,
    /** Epoch ms; undefined if the service did not issue this access token. */
    endOf: (access) => ends.get(access),
    /** Epoch ms of each request with this path. */
    seenAt: (path) => service.log.filter((served) => served.path === path).map(({ at }) => at),
    get calls() {
      return service.count('obtain') + service.count('refresh')
    },
    /** Token requests whose caller died, or did not wait for the response. */
    get lost() {
      return lost
    },
    /** Refresh tokens that were presented more than once, and by whom. */
    twice: () => [...presented.values()].filter((workers) => workers.length > 1),
    async close() {
      server.close()
      server.closeAllConnections()
      await service.close()
    },
  }
}

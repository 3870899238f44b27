// The server that the checks talk to, in whatever runtime they run. It starts simulated token services, and calls their methods on request.
import { createServer } from 'node:http'
import { startTokenService } from 'axios-evergreen/testing'

/** @returns `{ origin, close }` */
export async function startServices() {
  const services = []
  const server = createServer(async (request, response) => {
    response.setHeader('Content-Type', 'application/json')
    if (request.url === '/echo') {
      response.end(JSON.stringify({ authorization: request.headers.authorization }))
      return
    }
    const answer = await perform(request).catch((error) => ({ error: String(error) }))
    response.end(JSON.stringify(answer))
  })

  async function perform(request) {
    const [, , id, method] = request.url.split('/')
    const given = JSON.parse(await textOf(request))
    if (id !== undefined) return { result: (await services[id][method](...given)) ?? null }
    const service = await startTokenService(given)
    const { baseUrl, client, login, tokenEndpoint } = service
    return { result: { id: services.push(service) - 1, baseUrl, client, login, tokenEndpoint } }
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await Promise.all(services.map((service) => service.close()))
    },
  }
}

async function textOf(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

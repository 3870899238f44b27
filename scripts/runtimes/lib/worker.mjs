// For workerd: results are the answer to a request.
import { runChecks } from './run.mjs'

export default {
  async fetch(request) {
    return Response.json(await runChecks(new URL(request.url).searchParams.get('origin')))
  },
}

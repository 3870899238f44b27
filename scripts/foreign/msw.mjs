import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { checkMsw } from './lib/msw.mjs'

await checkMsw({ http, HttpResponse, setupServer }, 'msw', { onUnhandledRequest: 'bypass' })

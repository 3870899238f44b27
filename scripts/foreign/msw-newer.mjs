import { http, HttpResponse } from 'msw-newer'
import { setupServer } from 'msw-newer/node'
import { checkMsw } from './lib/msw.mjs'

await checkMsw({ http, HttpResponse, setupServer }, 'msw 3', { onUnhandledFrame: 'bypass' })

import { metrics } from '@opentelemetry/api'
import { createTokenManager } from 'axios-evergreen'
import { instrument } from 'axios-evergreen/opentelemetry'

const obtain = async () => ({ accessToken: 'a-token', accessLifetimeMs: 60_000 })
const tokens = createTokenManager({ source: { id: 'mine', obtain } })
const stop = instrument(tokens, { meter: metrics.getMeter('door') })
stop()
void tokens.close()

// Several instances share one token; one instance talks to two services: npm run example several
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager, loginPassword } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'

const [payments, reports] = await Promise.all([startTokenService(), startTokenService()])
const paymentTokens = createTokenManager({ source: loginPassword({ baseUrl: payments.baseUrl, ...payments.login }) })
const reportTokens = createTokenManager({ source: clientCredentials({ baseUrl: reports.baseUrl, ...reports.client }) })

// Several instances on one manager: one token request for all of them.
const wallets = axios.create({ baseURL: `${payments.baseUrl}/wallets` })
const payouts = axios.create({ baseURL: `${payments.baseUrl}/payouts`, timeout: 30_000 })
for (const instance of [wallets, payouts]) attachBearer(instance, paymentTokens)
await Promise.all([wallets.get('/1'), payouts.post('/', { amount: 5 }), wallets.get('/2')])
console.log(`payments: ${payments.count('resource')} requests, ${payments.count('obtain')} token request`)

// Two services on one instance: each origin gets the token of its own manager, and no other.
const both = axios.create()
attachBearer(both, paymentTokens, { origins: [payments.baseUrl] })
attachBearer(both, reportTokens, { origins: [reports.baseUrl] })
const answers = await Promise.all([both.get(`${payments.baseUrl}/wallets/1`), both.get(`${reports.baseUrl}/daily`)])
console.log(`one instance, two services: ${answers.map(({ status }) => status).join(' and ')}`)

await Promise.all([paymentTokens.close(), reportTokens.close()])
await Promise.all([payments.close(), reports.close()])

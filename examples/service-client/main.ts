// A client class of your own around an instance: npm run example service-client
import { startTokenService } from 'axios-evergreen/testing'
import { PaymentClient } from './payment-client.ts'

const service = await startTokenService()
const { baseUrl, client } = service

const payments = new PaymentClient({ baseUrl, ...client })
console.log('paid:', await payments.pay({ amount: 12, currency: 'EUR' }))
await payments.close()

const stranger = new PaymentClient({ baseUrl, ...client, clientSecret: 'mistyped' })
await stranger.pay({ amount: 1, currency: 'EUR' }).catch((error: Error) => console.log(error.message))
await stranger.close()

await service.close()

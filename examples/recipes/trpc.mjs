import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from '@trpc/client'
import { withBearer } from 'axios-evergreen/fetch'
import { EventSource } from 'eventsource'

/** A tRPC client. Each request, and each connection of a subscription, gets the current token. After a 401 it gets another one. */
export function trpcClient(url, tokens) {
  const bearerFetch = withBearer(fetch, tokens, { origins: [new URL(url).origin] })
  return createTRPCClient({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: httpSubscriptionLink({ url, EventSource, eventSourceOptions: { fetch: bearerFetch } }),
        false: httpBatchLink({ url, fetch: bearerFetch }),
      }),
    ],
  })
}

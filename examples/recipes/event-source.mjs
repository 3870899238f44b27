import { withBearer } from 'axios-evergreen/fetch'
import { EventSource } from 'eventsource'

/** Opens an EventSource of the package `eventsource`. Each connection, also a later one, gets a fresh token, and a rejected one is replaced. */
export function openEvents(url, tokens) {
  return new EventSource(url, { fetch: withBearer(fetch, tokens, { origins: [new URL(url).origin] }) })
}

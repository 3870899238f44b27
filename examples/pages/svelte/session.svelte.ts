// Svelte 5: the login as runes. On a server that renders, make it for each request, never in a module.
import { tokens } from '../tokens.ts'

/** `login` is undefined until the manager has looked into the store. `person` is another number for each other person. */
export const session = $state({ login: tokens.status().login, person: 0 })

tokens.on('loginChanged', ({ login, account }) => {
  session.login = login
  if (account !== 'same') session.person += 1
})

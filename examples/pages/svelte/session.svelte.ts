// Svelte 5: the login as runes. With server-side rendering, create this state per request, never in a module.
import { tokens } from '../tokens.ts'

/** `login` is undefined until the manager has read the store. `user` gets a new number whenever the user may have changed. */
export const session = $state({ login: tokens.status().login, user: 0 })

tokens.on('loginChanged', ({ login, account }) => {
  session.login = login
  if (account !== 'same') session.user += 1
})

// Vue: a composable. Call it in `setup`.
import { onScopeDispose, readonly, ref } from 'vue'
import { tokens } from '../tokens.ts'

export function useSession() {
  /** Undefined until the manager has read the store. */
  const login = ref(tokens.status().login)
  /** Gets a new number whenever the user may have changed. */
  const user = ref(0)
  const stop = tokens.on('loginChanged', (event) => {
    login.value = event.login
    if (event.account !== 'same') user.value += 1
  })
  onScopeDispose(stop)
  return { login: readonly(login), user: readonly(user) }
}

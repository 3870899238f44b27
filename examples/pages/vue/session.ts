// Vue: a composable. Call it in `setup`.
import { onScopeDispose, readonly, ref } from 'vue'
import { tokens } from '../tokens.ts'

export function useSession() {
  /** Undefined until the manager has read the store. */
  const login = ref(tokens.status().login)
  /** A new number whenever the user may be another one. */
  const user = ref(0)
  const stop = tokens.on('loginChanged', (event) => {
    login.value = event.login
    if (event.account !== 'same') user.value += 1
  })
  onScopeDispose(stop)
  return { login: readonly(login), user: readonly(user) }
}

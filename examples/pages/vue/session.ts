// Vue: a composable. Call it in `setup`.
import { onScopeDispose, readonly, ref } from 'vue'
import { tokens } from '../tokens.ts'

export function useSession() {
  /** Undefined until the manager has looked into the store. */
  const login = ref(tokens.status().login)
  /** Another number for each other person. */
  const person = ref(0)
  const stop = tokens.on('loginChanged', (event) => {
    login.value = event.login
    if (event.account !== 'same') person.value += 1
  })
  onScopeDispose(stop)
  return { login: readonly(login), person: readonly(person) }
}

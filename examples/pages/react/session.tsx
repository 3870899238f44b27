// React: the login is a store outside of React, so a hook built on useSyncExternalStore reads it.
import { Fragment, type ReactNode, useActionState, useSyncExternalStore } from 'react'
import { logIn, tokens } from '../tokens.ts'

/** `login` is undefined until the manager has read the store. `user` gets a new number whenever the user may have changed. */
let state = { login: tokens.status().login, user: 0 }
tokens.on('loginChanged', ({ login, account }) => {
  state = { login, user: account === 'same' ? state.user : state.user + 1 }
})
const subscribe = (changed: () => void) => tokens.on('loginChanged', changed)
const read = () => state

export const useLogin = () => useSyncExternalStore(subscribe, read, read)

export function Session({ children }: { children: ReactNode }) {
  const { login, user } = useLogin()
  if (login === 'required') return <LoginForm />
  // The key discards the state of the components inside when the user changes.
  return login === 'present' && <Fragment key={user}>{children}</Fragment>
}

function LoginForm() {
  const send = (_: string, form: FormData) => logIn(form).then(String, (error: Error) => error.message)
  const [wrong, submit] = useActionState(send, '')
  return (
    <form action={submit}>
      <input name="name" aria-label="Name" autoComplete="username" required />
      <input name="password" aria-label="Password" type="password" autoComplete="current-password" required />
      <button>Log in</button>
      <p role="alert">{wrong}</p>
    </form>
  )
}

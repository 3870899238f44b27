import { isLoginRequired } from 'axios-evergreen'
import { ownAccount } from '../lib/account'

/** A server component may send requests and renew, because the tokens are in the store. It cannot set a cookie. */
export default async function Page() {
  const account = await ownAccount()
  const asked = account?.api.get<{ name: string }>('/me')
  const response = await asked?.catch((error: unknown) => {
    if (!isLoginRequired(error, account?.tokens)) throw error
  })
  if (!response)
    return (
      <form action="/login" method="post">
        <input name="name" aria-label="Name" autoComplete="username" required />
        <input name="password" aria-label="Password" type="password" autoComplete="current-password" required />
        <button>Log in</button>
      </form>
    )
  return (
    <form action="/logout" method="post">
      <h1>{response.data.name}</h1>
      <button>Log out</button>
    </form>
  )
}

import { cookies } from 'next/headers'
import { ownAccount } from '../../lib/account'

export async function POST(): Promise<Response> {
  const account = await ownAccount()
  // Ends the login of this session on all servers.
  await account?.tokens.logout()
  ;(await cookies()).delete('session')
  return new Response(null, { status: 303, headers: { Location: '/' } })
}

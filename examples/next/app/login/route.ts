import { randomBytes } from 'node:crypto'
import { fromTokenResponse } from 'axios-evergreen/oauth2'
import { cookies } from 'next/headers'
import { accountOf } from '../../lib/account'

export async function POST(request: Request): Promise<Response> {
  const form = await request.formData()
  const body = new URLSearchParams([...form] as [string, string][])
  const response = await fetch(process.env.LOGIN_ENDPOINT!, { method: 'POST', body })
  if (!response.ok) return new Response('Wrong name or password.', { status: 401 })
  // A new session for each login prevents session fixation.
  const session = randomBytes(32).toString('base64url')
  const { tokens } = accountOf(session)
  await tokens.adopt(fromTokenResponse((await response.json()) as Record<string, unknown>))
  ;(await cookies()).set('session', session, { httpOnly: true, secure: true, sameSite: 'lax' })
  return new Response(null, { status: 303, headers: { Location: '/' } })
}

// If the API asks for more than a valid token, the user logs in again, and comes back to this page.
import { challengeOf } from 'axios-evergreen/oauth2'
import { logIn } from './tokens.ts'

const ASKED = 'asked for'

/** Sends a request, and steps up once if the API requires it. A second login of the same kind would not help. */
export async function steppingUp<Result>(send: () => Promise<Result>): Promise<Result> {
  try {
    const result = await send()
    sessionStorage.removeItem(ASKED)
    return result
  } catch (error) {
    const challenge = challengeOf(error)
    const asked = JSON.stringify(challenge)
    if (!challenge || sessionStorage.getItem(ASKED) === asked) throw error
    sessionStorage.setItem(ASKED, asked)
    const { acrValues, maxAgeS, claims, scope } = challenge
    await logIn({
      ...(acrValues && { acr_values: acrValues.join(' ') }),
      ...(maxAgeS !== undefined && { max_age: String(maxAgeS) }),
      ...(claims !== undefined && { claims }),
      ...(scope !== undefined && { scope: `openid offline_access ${scope}` }),
    })
    return new Promise(() => undefined) // the browser leaves the page
  }
}

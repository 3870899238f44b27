/** What the status of the API shows about the token. */
export interface Verdict {
  /** Undefined: the status does not show it. */
  readonly takesToken: boolean | undefined
  /** Why that is a problem, as the end of a sentence; undefined if it is not. */
  readonly because?: string
  readonly advice: readonly string[]
}

const unclear = (advice: string, because = 'that does not show whether it accepts the token'): Verdict => ({
  takesToken: undefined,
  because,
  advice: [advice],
})

const UNCLEAR: Readonly<Record<number, Verdict>> = {
  400: unclear('The API did not understand this request. Pass an address that accepts a GET without more parameters.'),
  402: unclear('The API requires a payment. Pass an address that this account may use.'),
  403: unclear(
    'Pass an address that this account may read. If there is none, compare scope, audience and roles with what the API requires.',
    'it rejects this account, or this token: the status does not show which',
  ),
  404: unclear('Check the path of --api: the API has no such resource, or hides it from this account.'),
  405: unclear('The address does not accept GET: use another one.'),
  407: unclear('A proxy responded, and it requires credentials.'),
  410: unclear('Check the path of --api: the resource is gone.'),
  429: unclear('The API throttles this account: wait, and do not run the doctor in a loop.'),
}

export function verdictOn(status: number): Verdict {
  if (status >= 200 && status <= 299) return { takesToken: true, advice: [] }
  if (status === 401)
    return {
      takesToken: false,
      because: 'it rejects a token that was just issued',
      advice: [
        'Check that the API and the token service belong to the same environment, and that the account may use this address.',
      ],
    }
  if (status >= 300 && status <= 399)
    return unclear('The doctor follows no redirects: pass the address that this one leads to.')
  if (status >= 500) return unclear('Try again later.')
  return UNCLEAR[status] ?? unclear('Pass an address that accepts GET.')
}

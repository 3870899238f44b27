import { TokenError, type AdoptedGrant } from '../../src/index.ts'
import { outcome, ScriptedSource } from './managed.ts'

/** Only a person can obtain its tokens. It notes what it revokes. */
export class LoginSource extends ScriptedSource {
  readonly needsLogin = true
  readonly revoked: unknown[] = []
  revoke = ({ refreshToken }: { refreshToken?: string }): Promise<void> => {
    this.revoked.push(refreshToken)
    return Promise.resolve()
  }
}

export const loginOf = (name: string, subject?: string, accessLifetimeMs = 60_000) => ({
  ...{ accessToken: name, accessLifetimeMs, refreshToken: `${name}-r` },
  ...(subject !== undefined && { subject }),
})

/** @returns What the answer is, or the code of its error. */
export const asked = (answer: Promise<unknown>) =>
  outcome(answer).then((ended) => (ended instanceof TokenError ? ended.code : ended))

/** The service refuses the refresh token. */
export const refused = () => {
  throw new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected', refreshToken: 'refused', status: 400 })
}

/** A login that the test ends. */
export function underWay() {
  let come: (grant: AdoptedGrant | undefined) => void = () => undefined
  let fail: (reason: unknown) => void = () => undefined
  const promise = new Promise<AdoptedGrant | undefined>((resolve, reject) => {
    come = resolve
    fail = reject
  })
  return { promise, come: (grant?: AdoptedGrant) => come(grant), fail: (reason: unknown) => fail(reason) }
}

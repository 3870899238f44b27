import { internalsOf } from '../../src/core/manager-internals.ts'
import { TokenError, type AdoptedGrant, type TokenStore } from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { manage, outcome, ScriptedSource } from './managed.ts'

/** Only a user can obtain its tokens. It records what it revokes. */
export class LoginSource extends ScriptedSource {
  readonly login = person
  readonly revoked: unknown[] = []
  revoke = ({ refreshToken }: { refreshToken?: string }): Promise<void> => {
    this.revoked.push(refreshToken)
    return Promise.resolve()
  }
}

/** A manager of such a source. Its tokens live for a minute, and are not kept warm. */
export const open = (store?: TokenStore, clock?: ReturnType<typeof manage>['clock']) => {
  const source = new LoginSource({ pairs: true, lifetimeMs: 60_000 })
  return { ...manage(source, { renewal: { keepWarm: 'never' }, ...(store && { store }) }, clock), source }
}

/** A request that starts now and is sent later. @returns Whether it may have a token then. */
export function begun(tokens: LoginManager) {
  const { currentGeneration: currentGeneration, firstGeneration: firstGeneration } = internalsOf(tokens)!
  const mark = currentGeneration!()
  return { mayBeSent: () => mark >= firstGeneration!() }
}

export const loginOf = (name: string, subject?: string, accessLifetimeMs = 60_000) => ({
  ...{ accessToken: name, accessLifetimeMs, refreshToken: `${name}-r` },
  ...(subject !== undefined && { subject }),
})

/** @returns The result, or the code of its error. */
export const asked = (answer: Promise<unknown>) =>
  outcome(answer).then((ended) => (ended instanceof TokenError ? ended.code : ended))

/** The service rejects the refresh token. */
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

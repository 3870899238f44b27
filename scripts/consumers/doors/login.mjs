// Checks the types of managers: a source with `login` results in a manager with a login. Compiled as TypeScript, in every module mode, too.
import assert from 'node:assert/strict'
import { createTokenManager, TokenError } from 'axios-evergreen'
import { person, session } from 'axios-evergreen/login'
import { oauth2 } from 'axios-evergreen/oauth2'

async function main() {
  assert.deepEqual([person.kind, session.kind], ['person', 'session'])
  const id = 'somebody'
  const obtain = async () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in'))
  const tokens = createTokenManager({ source: { id, login: person, obtain } })
  let told = ''
  tokens.on('loginChanged', ({ login }) => {
    told += ` ${login}`
  })
  await tokens.adopt(Promise.resolve({ accessToken: 'a', accessLifetimeMs: 60_000 }))
  assert.equal(tokens.status().login, 'present')
  assert.deepEqual(await tokens.logout(), { revoked: false, reason: 'no-endpoint' })
  assert.equal(tokens.status().loginReason, 'logged-out')
  await tokens.close()
  assert.equal(told, ' present required')

  const client = { tokenEndpoint: 'https://id.example.com/token', clientId: 'shop' }
  const login = createTokenManager({ source: oauth2({ ...client, grant: 'login' }) })
  assert.equal(login.status().login, 'required')

  const plain = createTokenManager({ source: { id, obtain } })
  // @ts-expect-error: a manager with credentials has no login
  assert.equal(plain.status().login, undefined)
  // @ts-expect-error: nor its events
  plain.on('loginChanged', () => undefined)
  // @ts-expect-error: nor its methods
  assert.deepEqual(await plain.logout(), { revoked: false, reason: 'nothing' })

  // @ts-expect-error: the option of earlier releases, whose error names its replacement
  assert.throws(() => createTokenManager({ source: { id, obtain, needsLogin: true } }), /login: person/)
  assert.throws(() => createTokenManager({ source: { id, obtain, login: { kind: 'person' } } }), /source\.login/)
}

void main()

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'

const HELPERS = resolve('examples', 'credentials')

describe('given the helpers that read a token with npx axios-evergreen token', () => {
  let built: BuiltPackage
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    built = await buildPackage()
    const [home, bin] = [resolve(built.dir, 'home'), resolve(built.dir, 'bin')]
    mkdirSync(join(home, '.config', 'my-tool'), { recursive: true })
    mkdirSync(bin)
    const program = resolve(built.dir, 'node_modules', 'axios-evergreen', 'dist', 'doctor.js')
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${program}' "$@"\n`)
    chmodSync(join(bin, 'npx'), 0o755)
    writeFileSync(
      join(home, '.config', 'my-tool', 'tokens.mjs'),
      `import { createTokenManager } from 'axios-evergreen'
      const obtain = async () => ({ accessToken: 'a.b.c', accessLifetimeMs: 60_000 })
      export const tokens = createTokenManager({ source: { id: 'my-tool', obtain } })`,
    )
    env = { ...process.env, HOME: home, PATH: `${bin}:${process.env.PATH}`, GIT_CONFIG_NOSYSTEM: '1' }
  })
  afterAll(() => built.remove())

  const run = (program: string, args: string[], input?: string) =>
    execFileSync(program, args, { env, encoding: 'utf8', ...(input !== undefined && { input }) })

  it('when git asks for the password of a server, then it is the token', () => {
    const helper = `credential.helper=${join(HELPERS, 'git-credential-my-tool')}`
    const told = run('git', ['-c', helper, 'credential', 'fill'], 'protocol=https\nhost=git.example.com\n\n')
    expect(told).toMatch(/^username=oauth2\npassword=a\.b\.c$/m)
  })

  it('when docker asks for the credentials of a registry, then their secret is the token', () => {
    const told = run(join(HELPERS, 'docker-credential-my-tool'), ['get'], 'registry.example.com\n')
    expect(JSON.parse(told)).toEqual({ ServerURL: 'registry.example.com', Username: 'oauth2', Secret: 'a.b.c' })
  })

  it.each(['store', 'erase'])('when %s is called, then the helpers do nothing', (command) => {
    for (const name of ['git', 'docker']) expect(run(join(HELPERS, `${name}-credential-my-tool`), [command])).toBe('')
  })
})

import { describe, expect, it } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { missingFor } from '../scripts/release/ready.mjs'

const folder = '.github/workflows'
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }))
const release = workflows.find(({ name }) => name === 'release.yml')!.text
const jobs = release
  .split('\njobs:\n')[1]!
  .split(/^ {2}(?=\w+:$)/m)
  .filter((text) => text !== '')
const runs = (job: string) => Array.from(job.matchAll(/(?:- |\s)run: (.*)$/gm), ([, command]) => command!)

describe('given the workflow that releases', () => {
  it('when its jobs are read, then only the last one may publish, and it runs npm on what the first one packed (F254)', () => {
    const mayPublish = jobs.map((job) => job.includes('id-token: write'))
    expect(mayPublish).toEqual([false, false, true])
    expect(release.split('\njobs:\n')[0]).toMatch(/^permissions: \{\}$/m)
    const [, , publish = ''] = jobs
    expect(publish).toMatch(/^ {4}needs: \[pack, rebuild\]$/m)
    expect(publish).toMatch(/^ {4}environment: release$/m)
    const [check, stage, ...more] = runs(publish)
    expect([check, stage, more]).toEqual([
      expect.stringContaining('sha256sum --check'),
      expect.stringMatching(/^npm stage publish .* --ignore-scripts$/),
      [],
    ])
    expect(publish).not.toMatch(/checkout|npm (ci|install)|npx/)
  })

  it('when its second job is read, then it builds again, with only the packages of the build, and compares (F254)', () => {
    const [build, check, ...more] = runs(jobs[1]!)
    expect([build, check, more]).toEqual([
      expect.stringMatching(/ node scripts\/release\/rebuild\.mjs --to rebuilt$/),
      expect.stringContaining('sha256sum --check --strict'),
      [],
    ])
    expect(jobs[1]).not.toMatch(/npm (ci|install|test)|npx/)
  })

  it('when its first job is read, then it checks whether the commit is ready before it installs anything (F254)', () => {
    expect(runs(jobs[0]!)[0]).toBe('node scripts/release/ready.mjs "$GITHUB_REF_NAME"')
  })

  it('when all workflows are read, then each action is pinned by its commit, and names its version (F254)', () => {
    const used = workflows.flatMap(({ text }) => Array.from(text.matchAll(/uses: (.*)$/gm), ([, action]) => action!))
    expect(used.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
    expect(used.length).toBeGreaterThan(4)
  })
})

describe('given a commit with a tag', () => {
  const manifest = { version: '0.3.0', repository: 'somewhere', homepage: 'somewhere', bugs: 'somewhere' }
  const first = '# Changelog\n\n## 0.3.0\n\nThe first public release.\n'
  const later = `${first}\n## 0.2.0\n`
  it.each([
    ['v0.3.0', manifest, [], later, []],
    ['v0.3.1', manifest, [], later, [/must be v0\.3\.0/]],
    [undefined, manifest, [], later, [/must be v0\.3\.0/]],
    ['v0.3.0', { version: '0.3.0' }, [], later, [/no repository/, /no homepage/, /no bugs/]],
    ['v0.3.0', manifest, ['oauth2.md', 'web.md'], later, [/2 changes wait in \.changeset: run npm run changelog/]],
    ['v0.3.0', manifest, ['oauth2.md', 'web.md'], first, [/2 changes wait in \.changeset: delete them/]],
    ['v0.3.0', manifest, [], first, []],
  ])(
    'when the tag is %s, with %j, the changes %j and the changelog %j, then the error says what is missing (F254)',
    (tag, given, changes, changelog, errors) => {
      const missing = missingFor(tag, given, ['README.md', 'config.json', ...changes], changelog)
      expect(missing).toEqual(errors.map((pattern) => expect.stringMatching(pattern)))
    },
  )
})

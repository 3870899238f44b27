/** What the pages promise about themselves. Their code and their tables: documents.test.ts. */
import { describe, expect, it } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { OPTIONS } from '../tools/doctor/doctor-options.ts'
import { TOKEN_OPTIONS } from '../tools/doctor/token-command.ts'
import { codeBlocks, commands, documents, fences, scriptBlocks } from './support/document-code.ts'

const readme = readFileSync('README.md', 'utf8')
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

interface Results {
  scenarios: { scorecard: { results: { rows: Record<string, Record<string, { right: boolean }>> } } }
}

/** What the code of all pages reads from the environment. */
const VARIABLES = [
  'CLIENT_ID',
  'CLIENT_SECRET',
  'ACCOUNT_LOGIN',
  'ACCOUNT_PASSWORD',
  'TOKEN_KEY',
  'CLIENT_CERT',
  'CLIENT_KEY',
  'NODE_ENV',
]

describe('given the commands of all documents', () => {
  it.each(commands())('when a shell reads those of $name, then it can parse them', ({ code }) => {
    expect(spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

  it('when they name an npm script, then it exists', () => {
    const told = [...documents, 'CONTRIBUTING.md'].flatMap((name) =>
      Array.from(readFileSync(name, 'utf8').matchAll(/npm run ([\w:]+)/g), ([, script]) => script!),
    )
    expect([...new Set(told)].filter((script) => !Object.keys(scripts).includes(script))).toEqual([])
  })

  const pages = [...documents, 'CONTRIBUTING.md', 'SECURITY.md'].map((name) => readFileSync(name, 'utf8')).join('\n')

  it('when they name an example, then npm run example has it', () => {
    const told = Array.from(pages.matchAll(/npm run example ([\w-]+)/g), ([, name]) => name!)
    const { stderr } = spawnSync(process.execPath, ['scripts/example.mjs'], { encoding: 'utf8' })
    const known = Array.from(stderr.matchAll(/^ {2}(\S+)$/gm), ([, name]) => name!)
    expect(told).toContain('recipes')
    expect([...new Set(told)].filter((name) => !known.includes(name))).toEqual([])
  })

  it('when they call npx axios-evergreen, then the program has the command and its options', () => {
    const calls = Array.from(pages.matchAll(/npx axios-evergreen ([^`\n]*)/g), ([, call]) => call!)
    expect(calls.length).toBeGreaterThan(1)
    const known: Record<string, object> = { doctor: OPTIONS, token: TOKEN_OPTIONS }
    const unknown = calls.filter((call) => {
      const options = known[/^[\w-]+/.exec(call)?.[0] ?? '']
      const given = Array.from(call.matchAll(/ --([\w-]+)/g), ([, name]) => name!)
      return options === undefined || given.some((name) => !(name in options))
    })
    expect(unknown).toEqual([])
  })
})

describe('given the README', () => {
  it('when its commands are read, then they are the two of the package', () => {
    expect(fences('sh', readme)).toEqual(['npm ci && npm run demo\nnpm ci && npm test\n'])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['demo', 'test']))
  })

  it('when a stranger reads it, then no term needs the glossary', () => {
    expect(readme).not.toContain('glossary')
  })
})

describe('given the sizes on the pages', () => {
  const rows = JSON.parse(readFileSync('.size-limit.json', 'utf8')) as { name: string; limit: string }[]

  it.each([
    ['README.md', ['Variant A', 'a service with oauth2']],
    [
      'CHANGELOG.md',
      ['Variant A', 'a service with oauth2', 'a single-page application', 'a page whose manager lives in a worker'],
    ],
    ['docs/browser.md', ['a single-page application']],
  ])('when %s is read, then it has the limits that npm run check:size enforces', (page, names) => {
    const told = Array.from(readFileSync(page, 'utf8').matchAll(/[\d.]+ KiB/g), ([size]) => size)
    expect(told).toEqual(names.map((name) => rows.find((row) => row.name === name)?.limit))
  })
})

describe('given sentences on which readers act (F389)', () => {
  it.each(['README.md', 'docs/renewal.md'])(
    'F389: when %s names the pauses, then Retry-After has its limit',
    (page) => {
      const sentences = readFileSync(page, 'utf8').split(/(?<=\.)\s/)
      const told = sentences.filter((sentence) => sentence.includes('Retry-After') && /pause|cool-down/i.test(sentence))
      expect(told.length).toBeGreaterThan(0)
      expect(told.filter((sentence) => !sentence.includes('up to five minutes'))).toEqual([])
      expect(readFileSync('docs/reference.md', 'utf8')).toContain('`retry.maxRetryAfterMs` (300 000 ms)')
    },
  )

  it('F389: when a page gives a login an account, then it names the token command of the doctor', () => {
    const [, account] = /account: '(\w+)'/.exec(readFileSync('docs/one-machine.md', 'utf8'))!
    const [, given] = /axios-evergreen token .*--account (\w+)/.exec(readFileSync('docs/doctor.md', 'utf8'))!
    expect(given).toBe(account)
  })
})

describe('given the scorecard', () => {
  const page = readFileSync('docs/evidence/scorecard.md', 'utf8')

  it('when it is read, then it has the measured values', () => {
    const { scenarios } = JSON.parse(readFileSync('bench/results.json', 'utf8')) as Results
    const measured = Object.values(scenarios.scorecard.results.rows).map((row) =>
      Object.values(row).map(({ right }) => (right ? '✓' : '✗')),
    )
    const shown = page.split('\n').map((line) => line.match(/[✓✗]/g) ?? [])
    expect(shown.filter((marks) => marks.length > 0)).toEqual(measured)
  })
})

describe('given a login in the code of a page or of an example', () => {
  const programs = [
    ...[...codeBlocks(), ...scriptBlocks()],
    ...readdirSync('examples', { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.includes('node_modules') && /\.(m?js|tsx?)$/.test(name))
      .map((name) => ({ name, code: readFileSync(`examples/${name}`, 'utf8') })),
  ].filter(({ code }) => code.includes("grant: 'login'") && !/\bfake\b/.test(code))

  it.each(programs)('F283: when $name logs out, then it has an address for revocation', ({ code }) => {
    expect(code).toMatch(/\b(revocationEndpoint|issuer)\b/)
  })

  it('F283: when they are looked for, then there are many', () => {
    expect(programs.length).toBeGreaterThan(10)
  })
})

describe('given a secret in the code of a page', () => {
  // The wire page signs an example by hand, with a password that is public.
  it.each(documents.filter((name) => !name.endsWith('token-service.md')))(
    'when %s is read, then it comes from the environment, under the name that all pages use',
    (name) => {
      const text = readFileSync(name, 'utf8').replace(/^-.*$/gm, '')
      expect(text.match(/\b(clientSecret|password): '.*/g)).toBeNull()
      const read = Array.from(text.matchAll(/process\.env\.([A-Z_]+)/g), ([, variable]) => variable!)
      const taken = Array.from(text.matchAll(/const \{ (.*) \} = process\.env/g), ([, names = '']) =>
        names.replace(/ = ''/g, '').split(', '),
      ).flat()
      // An address is not a secret.
      const secrets = [...read, ...taken].filter((variable) => !/_(URL|ENDPOINT)\b/.test(variable))
      expect(VARIABLES).toEqual(expect.arrayContaining(secrets))
    },
  )
})

describe('given the commands of all pages', () => {
  const pages = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((name) =>
    name.endsWith('.md'),
  )
  const SECRET_ARGUMENT =
    /^(?!\s*(?:export|printf)\b).*(?:\s(?:-u|--user)[\s=]|\$\{?\w*(?:SECRET|PASSWORD|TOKEN)\b|Bearer \$|client_secret=)/

  it.each(pages)('F310: when %s shows a command, then no secret is among the arguments of a process', (page) => {
    const blocks = [...readFileSync(page, 'utf8').matchAll(/```sh\n([^]*?)```/g)].flatMap(([, code]) =>
      code!.split('\n'),
    )
    // The shell itself runs export and printf: no process has their arguments.
    const shown = blocks.map((line) => line.replace(/^\s*printf [^|]*\|/, ''))
    expect(shown.filter((line) => SECRET_ARGUMENT.test(line))).toEqual([])
  })

  it('when a command contains a secret, then the check finds it', () => {
    for (const line of [
      'curl -u "$ID:$CLIENT_SECRET"',
      'curl -H "Authorization: Bearer $T"',
      'curl -d client_secret=x',
    ])
      expect(line).toMatch(SECRET_ARGUMENT)
  })
})

/** @returns How many words a page has, without code and without tables that commands write. */
function wordsOf(page: string): number {
  const text = readFileSync(page, 'utf8')
  const prose = text.replace(/^```.*?^```/gms, '').replace(/<!-- table: .*?<!-- \/table: /gs, '')
  return prose.match(/\S*[\p{L}\p{N}]\S*/gu)!.length
}

describe('given the pages for users', () => {
  it('when their words are counted, without code and without tables that commands write, then there are 22 500 at most', () => {
    const pages = documents.filter((name) =>
      /^docs\/(?!evidence\/|migrating\/|(managers|places)\.md)/.test(name.replaceAll('\\', '/')),
    )
    expect(pages.length).toBeGreaterThan(25)
    expect(pages.reduce((words, page) => words + wordsOf(page), 0)).toBeLessThanOrEqual(22_500)
  })

  it.each(documents.filter((name) => /migrating\W\w+\.md|(managers|places)\.md/.test(name)))(
    'when the words of %s are counted, of which a reader needs one at most, then there are 400 at most',
    (page) => expect(wordsOf(page)).toBeLessThanOrEqual(400),
  )
})

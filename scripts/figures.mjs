// node scripts/figures.mjs [COMMIT]: compares the lines, the long and the complex functions, and the bundle sizes of this tree with those of a
// commit. Builds both.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ESLint } from 'eslint'
import tseslint from 'typescript-eslint'

/** Folders whose subject is an account and its tokens. */
const HEART = /^src\/(core|login|record|account)\//
/** Programs besides the library, in their present and former folders. */
const TOOLS = /^(src|tools)\/(doctor|testing)\//

const commit = process.argv[2] ?? '6a6a8b6b'
const [before, now] = [await figuresOf(extracted(commit)), await figuresOf(resolve('.'))]
console.log(`${''.padEnd(58)}${commit.padStart(10)}${'now'.padStart(10)}`)
for (const [name, figure] of Object.entries(now))
  console.log(name.padEnd(58) + String(before[name] ?? '').padStart(10) + String(figure).padStart(10))

/** The commit in a folder inside this one, where it finds the packages of this one. */
function extracted(commit) {
  const folder = resolve('node_modules/.cache/figures', commit)
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['-x', '-C', folder], {
      input: execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 28 }),
    })
  }
  return folder
}

async function figuresOf(cwd) {
  return { ...(await codeFigures(cwd)), ...(await sizes(cwd)) }
}

async function codeFigures(cwd) {
  const counts = { skipBlankLines: true, skipComments: true }
  const rules = {
    complexity: ['error', 12],
    'max-lines-per-function': ['error', { max: 40, ...counts }],
    'max-lines': ['error', { max: 0, ...counts }],
  }
  const config = { files: ['**/*.ts'], languageOptions: { parser: tseslint.parser }, rules }
  const eslint = new ESLint({ cwd, overrideConfigFile: true, overrideConfig: [config], allowInlineConfig: false })
  const folders = ['src', 'tools'].filter((name) => existsSync(join(cwd, name)))
  const found = (await eslint.lintFiles(folders)).flatMap(({ filePath, messages }) =>
    messages.map(({ ruleId, message }) => ({
      file: filePath.slice(cwd.length + 1).replaceAll('\\', '/'),
      ruleId,
      message,
    })),
  )
  const of = (rule, isWanted) => found.filter(({ file, ruleId }) => ruleId === rule && isWanted(file))
  const linesOf = (isWanted) =>
    of('max-lines', isWanted).reduce((sum, { message }) => sum + Number(/\((\d+)\)/.exec(message)[1]), 0)
  const isOfSrc = (file) => !TOOLS.test(file)
  return {
    'code lines: core, login, record, account': linesOf((file) => HEART.test(file)),
    'code lines: src without doctor and testing': linesOf(isOfSrc),
    'code lines: doctor and testing': linesOf((file) => TOOLS.test(file)),
    'functions over 40 lines, without doctor and testing': of('max-lines-per-function', isOfSrc).length,
    'functions over 40 lines, with them': of('max-lines-per-function', () => true).length,
    'functions of complexity over 12, without them': of('complexity', isOfSrc).length,
    'functions of complexity over 12, with them': of('complexity', () => true).length,
  }
}

async function sizes(cwd) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd, stdio: 'ignore' })
  const { bundled } = await import(pathToFileURL(join(cwd, 'scripts/lib/size.mjs')).href)
  const rows = JSON.parse(readFileSync(join(cwd, '.size-limit.json'), 'utf8'))
  const measured = rows.map(async (row) => [
    `KiB, gzip: ${row.name}`,
    ((await bundled(row)).gzipped / 1_024).toFixed(2),
  ])
  return Object.fromEntries(await Promise.all(measured))
}

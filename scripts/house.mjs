// npm run house: measures the shape of src by TypeScript's own parser, and compares it with scripts/house.json. --write: writes that file.
import { readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const COMMITTED = 'scripts/house.json'
const RENEWAL = 'src/core/renewal.ts'
/** Code lines of the longest function. */
const MOST = { core: 32, src: 40 }

const files = new Map(filesOf('src').map((path) => [path, parsed(path)]))
const isOfCore = ([path]) => path.startsWith('src/core/')
const core = [...files].filter(isOfCore)
const renewal = [RENEWAL, ...importsOf(RENEWAL)].filter((path) => path.startsWith('src/core/'))

const table = {
  'files of core': core.length,
  ...Object.fromEntries(rooms().map(([room, lines]) => [`code lines of ${room}`, lines])),
  'code lines of src': sum([...files.keys()].map(codeLines)),
  'files of a renewal: renewal.ts, and what it imports': renewal.length,
  'types of a renewal': sum(renewal.map((path) => nodesOf(path).filter(isType).length)),
  [`functions of core over ${MOST.core} lines`]: longer(core, MOST.core),
  [`functions of src over ${MOST.src} lines`]: longer([...files], MOST.src),
  'branches on needsLogin in core': sum(core.map(([path]) => nodesOf(path).filter(isLoginBranch).length)),
  'files in circles': [...files.keys()].filter(isInCircle),
  'arrows from core to other rooms': core.flatMap(([path]) =>
    importsOf(path)
      .filter((to) => !to.startsWith('src/core/'))
      .map((to) => `${path} -> ${to}`),
  ),
}

const committed = process.argv.includes('--write') ? {} : JSON.parse(readFileSync(COMMITTED, 'utf8'))
for (const [what, value] of Object.entries(table)) {
  const shown = (it) => (Array.isArray(it) ? String(it.length) : String(it ?? '-'))
  const hasChanged = what in committed && JSON.stringify(committed[what]) !== JSON.stringify(value)
  console.log(`${shown(value).padStart(6)}  ${what}${hasChanged ? `, was ${shown(committed[what])}` : ''}`)
  if (Array.isArray(value)) for (const one of value) console.log(`        ${one}`)
}
if (process.argv.includes('--write')) writeFileSync(COMMITTED, `${JSON.stringify(table, undefined, 2)}\n`)

function filesOf(folder) {
  const found = ts.sys.readDirectory(folder, ['.ts'])
  return found.map((path) => posix.relative(process.cwd(), path) || path).sort()
}

function parsed(path) {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
}

/** All nodes of a file, or of a part of it. */
function nodesOf(path, root = files.get(path)) {
  const found = []
  const visit = (node) => {
    found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(root)
  return found
}

/** The lines that have more than comments and spaces. */
function linesOf(root) {
  const source = root.getSourceFile()
  const lines = new Set()
  const visit = (node) => {
    const children = node.getChildren(source)
    if (
      children.length === 0 &&
      node.kind !== ts.SyntaxKind.EndOfFileToken &&
      node.kind < ts.SyntaxKind.FirstJSDocNode
    ) {
      const [first, last] = [node.getStart(source), node.getEnd()].map(
        (at) => source.getLineAndCharacterOfPosition(at).line,
      )
      if (node.getEnd() > node.getStart(source)) for (let line = first; line <= last; line += 1) lines.add(line)
    }
    children.filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc).forEach(visit)
  }
  visit(root)
  return lines.size
}

function codeLines(path) {
  return linesOf(files.get(path))
}

/** @returns The rooms with their code lines. Files that stand in no room are one more. */
function rooms() {
  const roomOf = (path) => path.split('/').slice(1, -1)[0] ?? 'src itself'
  const names = [...new Set([...files.keys()].map(roomOf))].sort()
  return names.map((room) => [room, sum([...files.keys()].filter((path) => roomOf(path) === room).map(codeLines))])
}

function importsOf(path) {
  return files
    .get(path)
    .statements.map((statement) => statement.moduleSpecifier?.text)
    .filter((from) => from?.startsWith('.'))
    .map((from) => posix.join(posix.dirname(path), from))
}

function isType(node) {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node)
}

function longer(among, most) {
  return among.flatMap(([path]) =>
    nodesOf(path)
      .filter((node) => ts.isFunctionLike(node) && node.body && linesOf(node) > most)
      .map((node) => `${path} ${node.name?.getText() ?? 'without a name'}: ${linesOf(node)}`),
  )
}

/** Whether this is the word `needsLogin` in a condition. */
function isLoginBranch(node) {
  if (!ts.isIdentifier(node) || node.text !== 'needsLogin') return false
  for (let at = node; at.parent && !ts.isFunctionLike(at.parent); at = at.parent) {
    const { parent } = at
    if (
      (ts.isIfStatement(parent) && parent.expression === at) ||
      (ts.isConditionalExpression(parent) && parent.condition === at)
    )
      return true
    const { AmpersandAmpersandToken, BarBarToken } = ts.SyntaxKind
    if (ts.isBinaryExpression(parent) && [AmpersandAmpersandToken, BarBarToken].includes(parent.operatorToken.kind))
      return true
  }
  return false
}

function isInCircle(path) {
  const seen = new Set()
  const next = importsOf(path)
  while (next.length > 0) {
    const at = next.pop()
    if (at === path) return true
    if (seen.has(at) || !files.has(at)) continue
    seen.add(at)
    next.push(...importsOf(at))
  }
  return false
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0)
}

// Finds small changes of a source, and writes the source with some of them in it, each behind a switch.
import ts from 'typescript'

const K = ts.SyntaxKind
/** The replacements of an operator. */
const OPERATORS = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
}
const METHODS = { some: 'every', every: 'some', min: 'max', max: 'min', startsWith: 'endsWith', endsWith: 'startsWith' }

/**
 * @param {string} file
 * @param {string} text
 * @returns {{ file: string, line: number, span: string, kind: string, from: string, to: string }[]} All changes, in the order of the source.
 */
export function mutantsOf(file, text) {
  const source = parsed(file, text)
  const found = []
  const visit = (node) => {
    if (isWithoutEffect(node)) return
    for (const { kind, to } of changesOf(node, source))
      found.push({
        file,
        line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
        span: `${node.getStart(source)}-${node.end}`,
        kind,
        from: node.getText(source),
        to,
      })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * @param {string} file
 * @param {string} text
 * @param {readonly { id: number, span: string, kind: string, to: string }[]} mutants
 * @returns {string} The source with these changes. `__mutant(id)` says whether one is in effect.
 */
export function switched(file, text, mutants) {
  const source = parsed(file, text)
  const render = (node) => {
    let at = node.getStart(source)
    const own = mutants.filter(({ span }) => span === `${at}-${node.end}`)
    let out = ''
    ts.forEachChild(node, (child) => {
      const start = child.getStart(source)
      if (start < at) return
      out += text.slice(at, start) + render(child)
      at = child.end
    })
    out += text.slice(at, node.end)
    return own.filter(({ kind }) => kinds(node, source).includes(kind)).reduce(wrapped, out)
  }
  return render(source) + text.slice(source.end)
}

const kinds = (node, source) => (isWithoutEffect(node) ? [] : changesOf(node, source).map(({ kind }) => kind))
const parsed = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)

function wrapped(out, { id, kind, to }) {
  if (kind === 'statement') return `{ if (!__mutant(${id})) ${out} }`
  if (kind === 'body') return `{ if (__mutant(${id})) return; ${out.slice(1)}`
  return `(__mutant(${id}) ? (${to}) : (${out}))`
}

/** Types, imports and names: nothing of them runs. */
const isWithoutEffect = (node) =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node)

/** @returns {{ kind: string, to: string }[]} */
function changesOf(node, source) {
  if (node === source) return []
  const text = (one) => one.getText(source)
  const value = (to) => [{ kind: 'value', to }]
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
    return isName(node) ? [] : value(node.text === '' ? "'changed'" : "''")
  if (ts.isTemplateExpression(node)) return isName(node) ? [] : value("''")
  if (ts.isNumericLiteral(node)) return isName(node) ? [] : value(`${text(node)} + 1`)
  if (node.kind === K.TrueKeyword) return value('false')
  if (node.kind === K.FalseKeyword) return value('true')
  if (ts.isArrayLiteralExpression(node)) return node.elements.length === 0 || isTarget(node) ? [] : value('[]')
  if (ts.isObjectLiteralExpression(node)) return node.properties.length === 0 || isTarget(node) ? [] : value('{}')
  if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) return value(text(node.operand))
  if (ts.isBinaryExpression(node)) return [...operatorsOf(node, text), ...conditionOf(node)]
  if (ts.isCallExpression(node)) return [...methodOf(node, text), ...conditionOf(node)]
  if (ts.isExpressionStatement(node)) return isRemovable(node.expression) ? [{ kind: 'statement', to: '' }] : []
  if (ts.isBlock(node)) return isBody(node) ? [{ kind: 'body', to: '' }] : []
  return conditionOf(node)
}

/** A name of a member, an address of a module, a directive. */
const isName = (node) =>
  node.parent.name === node ||
  (ts.isBindingElement(node.parent) && node.parent.propertyName === node) ||
  ts.isTaggedTemplateExpression(node.parent) ||
  ts.isExpressionStatement(node.parent) ||
  (ts.isCallExpression(node.parent) && node.parent.expression.kind === K.ImportKeyword)

/** What is assigned to: `[a, b] = …`. */
const isTarget = (node) =>
  ts.isBinaryExpression(node.parent) && node.parent.operatorToken.kind === K.EqualsToken && node.parent.left === node

function operatorsOf(node, text) {
  const operator = text(node.operatorToken)
  const isText = [node.left, node.right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
  if (operator === '+' && isText) return []
  return (OPERATORS[operator] ?? []).map((other) => ({
    kind: `value ${other}`,
    to: `${grouped(node.left, text)} ${other} ${grouped(node.right, text)}`,
  }))
}

const grouped = (node, text) => (ts.isBinaryExpression(node) ? `(${text(node)})` : text(node))

/** A condition is true, or false. A loop does not become endless. */
function conditionOf(node) {
  const { parent } = node
  const isLoop =
    (ts.isWhileStatement(parent) && parent.expression === node) ||
    (ts.isForStatement(parent) && parent.condition === node)
  if (isLoop) return [{ kind: 'value false', to: 'false' }]
  const isOne =
    (ts.isIfStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node)
  return isOne ? ['true', 'false'].map((to) => ({ kind: `value ${to}`, to })) : []
}

function methodOf(node, text) {
  const called = node.expression
  if (!ts.isPropertyAccessExpression(called) || called.questionDotToken || isInChain(node)) return []
  const other = Object.hasOwn(METHODS, called.name.text) ? METHODS[called.name.text] : undefined
  const given = node.arguments.map(text).join(', ')
  return other === undefined ? [] : [{ kind: `value ${other}`, to: `${text(called.expression)}.${other}(${given})` }]
}

/** Parentheses would end an optional chain too early. */
const isInChain = (node) => (node.flags & ts.NodeFlags.OptionalChain) !== 0

const isRemovable = (node) =>
  ts.isCallExpression(node)
    ? node.expression.kind !== K.SuperKeyword
    : !ts.isYieldExpression(node) && !ts.isStringLiteralLike(node)

/** The body of a function that does more than return. */
const isBody = ({ parent, statements }) =>
  ts.isFunctionLike(parent) && !ts.isConstructorDeclaration(parent) && statements.length > 0

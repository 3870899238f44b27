/** docs/reference.md says "All options". The reports in `api/` have the public ones. */
import { describe, expect, it } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { fences } from './support/document-code.ts'

const reference = readFileSync('docs/reference.md', 'utf8').replace(/^```.*?^```/gms, '')

/** Types whose members are options, beside parameters named `options`. */
const OF_OPTIONS = /Options$|Credentials$/

/** The members of each object of options, wherever it is declared. */
function optionsIn(report: string): { of: string; name: string }[] {
  const found: { of: string; name: string }[] = []
  const membersOf = (type: ts.Node, of: string): void => {
    if (ts.isTypeLiteralNode(type) || ts.isInterfaceDeclaration(type))
      for (const { name } of type.members) found.push({ of, name: (name as ts.Identifier).text })
    else if (ts.isIntersectionTypeNode(type) || ts.isUnionTypeNode(type))
      for (const part of type.types) membersOf(part, of)
    else if (ts.isParenthesizedTypeNode(type)) membersOf(type.type, of)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && OF_OPTIONS.test(node.name.text)) membersOf(node, node.name.text)
    if (ts.isTypeAliasDeclaration(node) && OF_OPTIONS.test(node.name.text)) membersOf(node.type, node.name.text)
    const isCall = ts.isFunctionDeclaration(node) || ts.isMethodSignature(node)
    if (isCall)
      for (const { name, type } of node.parameters)
        if (type && /^(options|input)$/.test(name.getText())) membersOf(type, (node.name as ts.Identifier).text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('report.ts', fences('ts', report)[0]!, ts.ScriptTarget.Latest, true))
  return found
}

const options = readdirSync('api').flatMap((file) =>
  optionsIn(readFileSync(`api/${file}`, 'utf8').replaceAll('\r', '')),
)

describe('given the reference', () => {
  it('when the public options are counted, then the reports have them', () => {
    expect(new Set(options.map(({ of, name }) => `${of}.${name}`)).size).toBeGreaterThan(70)
    expect(options).toEqual(
      expect.arrayContaining([
        { of: 'TokenManagerOptions', name: 'exchangeTimeoutMs' },
        { of: 'OAuth2Options', name: 'issuer' },
        { of: 'SimulatedServiceOptions', name: 'throttle' },
        { of: 'logEvents', name: 'fields' },
        { of: 'fromTokenResponse', name: 'receivedAt' },
        { of: 'inspect', name: 'api' },
        { of: 'getAccessToken', name: 'maxWaitMs' },
      ]),
    )
  })

  it('when it is read, then each public option is in it', () => {
    const code = [...reference.matchAll(/`([^`]+)`/g)].map(([, text]) => text!).join('\n')
    const missing = options.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(code))
    expect(missing).toEqual([])
  })
})

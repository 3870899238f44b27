import ts from 'typescript'
import { type CodeBlock, entries, fences } from './document-code.ts'

/** @returns Each public function and class, with the code of the examples in its docstring. */
export function examples(options: ts.CompilerOptions): (CodeBlock & { readonly entry: string })[] {
  const program = ts.createProgram(Object.values(entries), options)
  const checker = program.getTypeChecker()
  return Object.entries(entries).flatMap(([entry, file]) =>
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!)
      .map((one) => (one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one))
      .filter(({ flags }) => flags & ts.SymbolFlags.Value)
      .map((one) => {
        const tags = one.getJsDocTags(checker).filter(({ name }) => name === 'example')
        const code = tags.flatMap(({ text }) => fences('ts', `${ts.displayPartsToString(text)}\n`)).join('\n')
        return { name: one.name, entry, code }
      }),
  )
}

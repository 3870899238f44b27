import { transformSync } from '@swc/core'

/** Runs a block of TypeScript of a page. @param given What the code does not declare. @returns What it exports or, given an `ending`, what that returns. */
export function runCode(code: string, given: Readonly<Record<string, unknown>>, ending = 'return exports'): unknown {
  const { code: plain } = transformSync(code, {
    module: { type: 'commonjs' },
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  })
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code of our own pages
  const run = new Function('exports', ...Object.keys(given), `${plain}\n${ending}`) as (...values: unknown[]) => unknown
  return run({}, ...Object.values(given))
}

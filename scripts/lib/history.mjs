import { transform } from 'esbuild'
import { readFile } from 'node:fs/promises'

const source = await readFile(new URL('../../tools/testing/history.ts', import.meta.url), 'utf8')
const { code } = await transform(source, { loader: 'ts', format: 'esm' })

/**
 * The checker of histories (`tools/testing/history.ts`), which the package uses in `tokenRegisterChecks` and does not export: `unexplainedIn(steps)`
 * says what no order explains, and `recorded(register, note)` notes the steps of a register.
 */
export const { recorded, unexplainedIn } = await import(`data:text/javascript,${encodeURIComponent(code)}`)

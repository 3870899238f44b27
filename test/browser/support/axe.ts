import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8')

/** @returns What axe-core finds in a page. */
export async function findingsIn(page: Page, of = 'document'): Promise<unknown[]> {
  await page.evaluate(`(() => { ${AXE} })()`)
  return page.evaluate(`axe.run(${of}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`)
}

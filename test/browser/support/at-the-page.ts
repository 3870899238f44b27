import type { EngineTab } from './engines.mjs'

/** A page that navigates cannot be queried. */
export const asked = <Value>(tab: EngineTab, question: string) => tab.evaluate<Value>(question).catch(() => undefined)

/** A limit against hanging. */
const LIMIT_MS = 300_000

export async function until(tab: EngineTab, condition: string): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; !(await asked(tab, condition));)
    if (Date.now() > end)
      throw new Error(`${condition}: ${await asked<string>(tab, 'location.href + document.body.outerHTML')}`)
}
export const click = async (tab: EngineTab, selector: string) => {
  await until(tab, `document.querySelector('${selector}')?.checkVisibility()`)
  await asked(tab, `void document.querySelector('${selector}').click()`)
}
export const sees = (tab: EngineTab, name: string) =>
  until(tab, `document.querySelector('h1')?.textContent === '${name}'`)

/** At the provider, whose page asks for a name. */
export async function writeName(tab: EngineTab, name: string): Promise<void> {
  await until(tab, `!!document.querySelector('[name=name]')`)
  await tab.evaluate(`document.querySelector('[name=name]').value = '${name}'`)
  await click(tab, 'button')
}

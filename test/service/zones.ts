import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { transformSync } from '@swc/core'

const ZONES = ['Asia/Tokyo', 'America/St_Johns', 'Pacific/Apia']

/**
 * Runs a function on strings in a process that changes through all time zones. The function belongs to a module of `src` that
 * imports nothing.
 */
export function readElsewhere(module: string, name: string, texts: readonly string[]): unknown[][] {
  const source = readFileSync(`src/${module}.ts`, 'utf8')
  const { code } = transformSync(source, { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } })
  const script = `${code}
    const read = ${JSON.stringify(ZONES)}.map((zone) => {
      process.env.TZ = zone
      if (new Date(0).getHours() === 0) throw new Error(zone + ' is not known')
      return ${JSON.stringify(texts)}.map((text) => ${name}(text) ?? null)
    })
    console.log(JSON.stringify(read))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return JSON.parse(printed) as unknown[][]
}

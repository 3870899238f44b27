import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Misuse } from './misuse.ts'

/**
 * Loads a module of the user.
 *
 * @param option The option that names it, for messages.
 * @returns What the module exports, by name.
 * @throws {Misuse}
 */
export async function exportsOf(option: string, file: string | true | undefined): Promise<Record<string, unknown>> {
  if (typeof file !== 'string') throw new Misuse(`${option} must be given a file`)
  checkExists(option, file)
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>
  } catch (thrown) {
    // The message may quote anything in the module, so it is not shown.
    const { code, name } = Object(thrown) as { code?: unknown; name?: unknown }
    throw new Misuse(`${option} cannot be loaded (${String(code ?? name)}): run it with node to see why`)
  }
}

/** Whether Node loads the file as a module, by its extension. */
export function isModule(file: string): boolean {
  return /\.[cm]?[jt]s$/.test(file)
}

/** @throws {Misuse} */
export function checkExists(option: string, file: string): void {
  if (!existsSync(file)) throw new Misuse(`${option}: there is no file ${file}`)
}

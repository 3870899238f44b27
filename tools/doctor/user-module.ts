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
  if (!existsSync(file)) throw new Misuse(`${option}: there is no file ${file}`)
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>
  } catch (thrown) {
    // The message is left out, because it may contain anything that the module contains.
    const { code, name } = Object(thrown) as { code?: unknown; name?: unknown }
    throw new Misuse(`${option} cannot be loaded (${String(code ?? name)}): run it with node to see why`)
  }
}

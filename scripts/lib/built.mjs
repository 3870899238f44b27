import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** Copies the built package beside the packages of a folder, so that all share one axios, as in a project of a user. */
export function copyPackage(folder) {
  const target = join(folder, 'node_modules', 'axios-evergreen')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  for (const name of ['package.json', 'dist']) cpSync(join(project, name), join(target, name), { recursive: true })
}

/** @returns The environment of a program that talks to this machine only. */
export function withoutProxies() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)))
}

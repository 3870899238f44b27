import { spawnSync } from 'node:child_process'

const hasPromtool = () => spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool())
  spawnSync(
    process.execPath,
    ['-e', "import('./test/support/apt-install.mjs').then((apt) => apt.aptInstall('prometheus'))"],
    { stdio: 'inherit' },
  )

/** Whether promtool was found or installed. Prints a line if not. @throws With `CI` set, where the rules must be tested. */
export function isPromtoolThere(): boolean {
  if (hasPromtool()) return true
  const missing = 'There is no promtool (package prometheus), and none could be installed'
  if (process.env.CI) throw new Error(missing)
  console.warn(`SKIPPED: the rules of Prometheus. ${missing}.`)
  return false
}

export function promtool(...args: string[]): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 })
  return { status, printed: stdout + stderr }
}

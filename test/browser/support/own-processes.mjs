import { readdirSync, readFileSync } from 'node:fs'

/** Kills one of the processes below our process, by its command line: a browser then believes that a page has crashed. Linux only. */
export function killOneOf(ancestor, command) {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processOf(name) ?? []) : []))
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]))
  const isBelow = (pid) => pid === ancestor || (parents.has(pid) && isBelow(parents.get(pid)))
  const fitting = all.filter((one) => isBelow(one.pid) && command.test(one.command))
  const { pid } = fitting[Math.floor(Math.random() * fitting.length)] ?? {}
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

/** Undefined: it has ended since. */
function processOf(name) {
  try {
    const [, parent] = /\) \w (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))
    const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid: Number(name), parent: Number(parent), command }
  } catch {
    return undefined
  }
}

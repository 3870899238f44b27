import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { builtOnce } from '../support/built-once.ts'
import type { Given, Program } from './child.ts'

/** A process that runs child.ts. */
export interface Started {
  readonly child: ChildProcess
  /** Rejects if the process ends first. */
  tell<Name extends keyof Program>(
    name: Name,
    ...argument: Parameters<Program[Name]>
  ): Promise<Awaited<ReturnType<Program[Name]>>>
  readonly ended: Promise<unknown>
}

const running = new Set<ChildProcess>()

export async function stopProcesses(): Promise<void> {
  await Promise.all(
    [...running].map((child) => {
      child.kill('SIGKILL')
      return once(child, 'close')
    }),
  )
}

export async function start(given: Given): Promise<Started> {
  const folder = await builtOnce('resources-child', ['src', 'tools', 'test/resources', 'test/support'], build)
  const child = spawn(process.execPath, [join(folder, 'child.mjs')], {
    env: { ...process.env, GIVEN: JSON.stringify(given) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.add(child)
  // It may end while it is told something.
  child.stdin.on('error', () => undefined)
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let isOver = false
  const ended = once(child, 'close').then(() => {
    isOver = true
    running.delete(child)
    for (const { reject } of waiting.values()) reject(new Error('The process has ended'))
  })
  let id = 0
  const answerOf = (to: number) =>
    new Promise<never>((resolve, reject) => {
      if (isOver) reject(new Error('The process has ended'))
      else waiting.set(to, { resolve, reject })
    })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as { id: number; value?: unknown; error?: string }
    const { resolve, reject } = waiting.get(answer.id)!
    waiting.delete(answer.id)
    if (answer.error === undefined) resolve(answer.value as never)
    else reject(new Error(answer.error))
  })
  await answerOf(0)
  return {
    child,
    ended,
    tell(name, argument?: unknown) {
      id += 1
      child.stdin.write(`${JSON.stringify({ id, name, argument })}\n`, () => undefined)
      return answerOf(id)
    },
  }
}

async function build(dir: string): Promise<void> {
  const external = ['axios', 'async-mutex', 'p-retry', 'redis'].flatMap((name) => ['--external', name])
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
  const output = ['--file', join(dir, 'child.mjs'), '--format', 'esm', '--platform', 'node']
  await promisify(execFile)(process.execPath, [rolldown, 'test/resources/child.ts', ...output, ...external])
}

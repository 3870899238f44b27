import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'

/** A command of the tool, as a process. */
export interface Started {
  readonly child: ChildProcess
  /** Resolves with the part in brackets of the process's output. */
  printed(words: RegExp): Promise<string>
  readonly ended: Promise<{ code: number | null; printed: string }>
}

/** The example of a command-line tool, compiled, with a folder for its settings and a server for its logins. */
export class CliWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'evergreen-cli-'))
  readonly #node: string
  #built!: BuiltPackage
  #worker!: Worker
  #issuer = ''
  #ids = 0

  constructor(node: string) {
    this.#node = node
  }

  async open(): Promise<void> {
    this.#built = await buildPackage()
    const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
    const external = ['axios', 'axios-evergreen', '/^axios-evergreen/', 'openid-client']
    await promisify(execFile)(process.execPath, [
      ...[rolldown, join('examples', 'cli', 'main.ts'), '--file', this.#program, '--format', 'esm'],
      ...['--platform', 'node', ...external.flatMap((name) => ['--external', name])],
    ])
    // Instead of a browser: it records the address that it receives.
    const browser = join(this.folder, 'xdg-open')
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > '${join(this.folder, 'opened')}'\n`)
    chmodSync(browser, 0o755)
    const provider = join(__dirname, '../oauth2/support/native-provider.mjs')
    this.#worker = new Worker(provider, { stdout: true, stderr: true })
    this.#issuer = await this.tell('start')
  }

  async close(): Promise<void> {
    await this.tell('stop')
    await this.#worker.terminate()
    rmSync(this.folder, { recursive: true })
    await this.#built.remove()
  }

  /** Queries the server, or controls it. */
  async tell<Result>(name: 'start' | 'calls' | 'held' | 'hold' | 'letGo' | 'stop'): Promise<Result> {
    const id = (this.#ids += 1)
    this.#worker.postMessage({ id, name })
    for (;;) {
      const [answer] = (await once(this.#worker, 'message')) as [{ id: number; result: Result; error?: string }]
      if (answer.error !== undefined) throw new Error(answer.error)
      if (answer.id === id) return answer.result
    }
  }

  start(...args: string[]): Started {
    const env = {
      ...process.env,
      PATH: [this.folder, process.env.PATH].join(delimiter),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      MY_TOOL_ISSUER: this.#issuer,
      MY_TOOL_API: this.#issuer,
    }
    const child = spawn(this.#node, ['--disable-warning=ExperimentalWarning', this.#program, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, printed: text.trim() }))
    const isOver = { now: false }
    void ended.then(() => (isOver.now = true))
    return {
      child,
      ended,
      async printed(words) {
        for (;;) {
          const found = words.exec(text)
          if (found) return found[1]!
          if (isOver.now) throw new Error(`The process ended, and had printed: ${text}`)
          await new Promise(setImmediate)
        }
      },
    }
  }

  /** Runs a command to its end. */
  run(...args: string[]) {
    return this.start(...args).ended
  }

  /** Logs in, and waits until the access token of the login has expired. */
  async logIn(): Promise<void> {
    const login = this.start('login')
    await visit(await login.printed(/^(http.*)$/m))
    await login.ended
    for (const until = Date.now() + 1_000; Date.now() < until;) await new Promise(setImmediate)
  }

  get #program(): string {
    return join(this.#built.dir, 'my-tool.mjs')
  }
}

/** Follows pages as a browser would, with cookies. @returns The last page. */
export async function visit(address: string, form?: Record<string, string>, cookies = new Map<string, string>()) {
  let url = address
  let body = form && new URLSearchParams(form)
  for (;;) {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
    const answer = await fetch(url, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    const page = await answer.text()
    const next = answer.headers.get('location')
    if (next === null) return { page, cookies, status: answer.status }
    url = new URL(next, url).href
    body = undefined
  }
}

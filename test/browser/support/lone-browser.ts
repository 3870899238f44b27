import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { FLAGS } from './browser.ts'

/** A browser without playwright, which keeps each page visible and focused: such a page is never frozen, and never enters the back/forward cache. */
export interface LoneBrowser {
  /** Opens a tab in front of the others. */
  open(address: string): Promise<LoneTab>
  close(): Promise<void>
}

export interface LoneTab {
  /** @returns The result of the expression, or of its promise, in the page. */
  evaluate<Value>(expression: string): Promise<Value>
  /** The browser may do this to any hidden tab: timers and tasks stop, and the event `freeze` is sent. */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

type Result = Record<string, unknown>

interface Answer {
  readonly id?: number
  readonly result?: Result
  readonly error?: { readonly message: string }
}

export async function loneBrowser(): Promise<LoneBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'profile-'))
  const browser = spawn(
    process.env.TEST_CHROMIUM!,
    [...FLAGS, '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
  )
  const send = protocolOver(browser.stdio[3] as Writable, browser.stdio[4] as Readable)
  return {
    async open(address) {
      const { targetId } = await send('Target.createTarget', { url: address })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      await send('Target.activateTarget', { targetId })
      const inTab = (method: string, params: Result) => send(method, params, sessionId)
      return {
        async evaluate<Value>(expression: string) {
          const given = { expression, awaitPromise: true, returnByValue: true }
          const { result } = (await inTab('Runtime.evaluate', given)) as { result: { value: Value } }
          return result.value
        },
        freeze: async () => void (await inTab('Page.setWebLifecycleState', { state: 'frozen' })),
        thaw: async () => void (await inTab('Page.setWebLifecycleState', { state: 'active' })),
      }
    },
    async close() {
      const ended = once(browser, 'exit')
      // With all of its processes.
      process.kill(-browser.pid!, 'SIGKILL')
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The DevTools protocol: JSON messages, each of which ends with a zero byte. */
function protocolOver(input: Writable, output: Readable) {
  const pending = new Map<number | undefined, (answer: Answer) => void>()
  let received = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (received + chunk).split('\0')
    received = messages.pop() ?? ''
    for (const message of messages) {
      const answer = JSON.parse(message) as Answer
      pending.get(answer.id)?.(answer)
    }
  })
  let sent = 0
  return async (method: string, params: Result, sessionId?: unknown): Promise<Result> => {
    const id = (sent += 1)
    input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const { result = {}, error } = await new Promise<Answer>((resolve) => pending.set(id, resolve))
    pending.delete(id)
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

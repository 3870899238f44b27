import { digestOf } from '../core/digest.ts'
import { checkObject } from '../core/option-checks.ts'
import { member } from '../core/thrown.ts'
import { messageOf } from './reason.ts'

/** A client that can run one command: any client of node-redis or ioredis, or an object with a method `command`. */
export type RedisClient =
  | { sendCommand(args: string[]): Promise<unknown> }
  | { sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>; getSlotMaster: unknown }
  | { sendCommand(isReadonly: boolean, args: string[]): Promise<unknown>; getMasterNode: unknown }
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { command(args: string[]): Promise<unknown> }

/** Runs one command, with its key at index 3. */
type Command = (args: [string, string, string, string, ...string[]]) => Promise<unknown>

/** @throws {TypeError} if the client has no method to run a command. */
export function commandOf(client: RedisClient): Command {
  checkObject('client', client)
  const [call, sendCommand, command] = ['call', 'sendCommand', 'command'].map((name) => member(client, name))
  if (isMethod(member(client, 'then'))) throw new TypeError('client is a promise: await it, and pass its result')
  // The order of these checks matters. ioredis also has a sendCommand, but with other arguments. Both libraries have a method `command` for the Redis command
  // COMMAND.
  if (isMethod(call)) return async (args) => call.apply(client, args)
  if (isMethod(sendCommand)) {
    const send = async (...args: unknown[]) => sendCommand.apply(client, args)
    // In node-redis, sendCommand of a cluster also takes the key and isReadonly, and that of a sentinel takes isReadonly.
    if (isMethod(member(client, 'getSlotMaster'))) return (args) => send(args[3], false, args)
    return isMethod(member(client, 'getMasterNode')) ? (args) => send(false, args) : (args) => send(args)
  }
  if (isMethod(command)) return async (args) => command.call(client, args)
  throw new TypeError(
    'client must be a client of node-redis or ioredis, or have a method command(args); ' +
      'for another library pass { command: (args) => client.customCommand(args) }, with the method that runs a command',
  )
}

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>
const isMethod = (value: unknown): value is Method => typeof value === 'function'

/** How long steps wait for the step that loads the script. Its connection may be dead. */
const LOADING_MS = 1_000

/**
 * A Lua script that Redis runs by its digest. If Redis does not know the digest, one step of each client sends the text, and the others wait for that step:
 * otherwise each owner in a starting process would send the text.
 */
export class Script {
  readonly #text: string
  readonly #loads = new WeakMap<object, { readonly ended: Promise<unknown>; readonly at: number }>()
  #digest: Promise<string> | undefined

  constructor(text: string) {
    this.#text = text
  }

  async run(client: object, command: Command, key: string, args: readonly string[]): Promise<unknown> {
    this.#digest ??= digestOf('SHA-1', this.#text)
    const evalsha: Parameters<Command>[0] = ['EVALSHA', await this.#digest, '1', key, ...args]
    const load = () => command(['EVAL', this.#text, '1', key, ...args])
    const byDigest = (otherwise: () => Promise<unknown>) =>
      command(evalsha).catch((thrown: unknown) => {
        // The second form is GLIDE's, within a longer message.
        if (!/^NOSCRIPT|- NoScriptError: /.test(messageOf(thrown))) throw thrown
        return otherwise()
      })
    const loaded = () => {
      const { ended, at = 0 } = this.#loads.get(client) ?? {}
      return Date.now() - at < LOADING_MS ? ended : undefined
    }
    await loaded()
    return byDigest(async () => {
      if (!loaded()) return this.#loading(client, load())
      await loaded()
      // Another node of the cluster may lack the script.
      return byDigest(load)
    })
  }

  #loading(client: object, step: Promise<unknown>): Promise<unknown> {
    const over = () => void this.#loads.delete(client)
    this.#loads.set(client, { ended: step.then(over, over), at: Date.now() })
    return step
  }
}

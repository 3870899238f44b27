import { digestOf } from '../core/digest.ts'
import { checkObject } from '../core/option-checks.ts'
import { member } from '../core/thrown.ts'
import { messageOf } from './reason.ts'

/** What runs one command: the clients of node-redis (each in its own way) and of ioredis, and anything with a method `command`. */
export type RedisClient =
  | { sendCommand(args: string[]): Promise<unknown> }
  | { sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>; getSlotMaster: unknown }
  | { sendCommand(isReadonly: boolean, args: string[]): Promise<unknown>; getMasterNode: unknown }
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { command(args: string[]): Promise<unknown> }

/** With a key at index 3. */
type Command = (args: [string, string, string, string, ...string[]]) => Promise<unknown>

/** @throws {TypeError} when the client offers no way to run a command. */
export function commandOf(client: RedisClient): Command {
  checkObject('client', client)
  const [call, sendCommand, command] = ['call', 'sendCommand', 'command'].map((name) => member(client, name))
  if (isMethod(member(client, 'then'))) throw new TypeError('client is a promise: await it, and pass its result')
  // The order tells them apart: ioredis has a sendCommand too, which takes something else, and both have a method for the
  // Redis command COMMAND.
  if (isMethod(call)) return async (args) => call.apply(client, args)
  if (isMethod(sendCommand)) {
    const send = async (...args: unknown[]) => sendCommand.apply(client, args)
    // A cluster of node-redis wants to be told the key, a sentinel whether it may ask a replica.
    if (isMethod(member(client, 'getSlotMaster'))) return (args) => send(args[3], false, args)
    return isMethod(member(client, 'getMasterNode')) ? (args) => send(false, args) : (args) => send(args)
  }
  if (isMethod(command)) return async (args) => command.call(client, args)
  throw new TypeError(
    'client must be a client of node-redis or ioredis, or have a method command(args); ' +
      'of another library pass { command: (args) => client.customCommand(args) }, by whatever name it runs one command',
  )
}

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>
const isMethod = (value: unknown): value is Method => typeof value === 'function'

/** A Lua script, sent once and named by its digest from then on. */
export class Script {
  readonly #text: string
  #digest: Promise<string> | undefined

  constructor(text: string) {
    this.#text = text
  }

  async run(command: Command, key: string, args: readonly string[]): Promise<unknown> {
    this.#digest ??= digestOf('SHA-1', this.#text)
    try {
      return await command(['EVALSHA', await this.#digest, '1', key, ...args])
    } catch (thrown) {
      if (!messageOf(thrown).startsWith('NOSCRIPT')) throw thrown
      return command(['EVAL', this.#text, '1', key, ...args])
    }
  }
}

import { checkObject } from '../core/option-checks.ts'
import { digestOf } from '../core/digest.ts'

/** A connected node-redis (5, 6) or ioredis (5, 6) client, or anything that runs one command. */
export type RedisClient =
  | { sendCommand(args: string[]): Promise<unknown> }
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { command(args: string[]): Promise<unknown> }

type Command = (args: [string, ...string[]]) => Promise<unknown>

/** @throws {TypeError} when the client offers no way to run a command. */
export function commandOf(client: RedisClient): Command {
  checkObject('client', client)
  // The order tells them apart: ioredis has a sendCommand too, which takes something else, and both have a method for the
  // Redis command COMMAND.
  if (isMethod(client, 'call')) return async ([name, ...rest]) => client.call(name, ...rest)
  if (isMethod(client, 'sendCommand')) return async (args) => client.sendCommand(args)
  if (isMethod(client, 'command')) return async (args) => client.command(args)
  throw new TypeError('client must be a client of node-redis or ioredis, or have a method command(args)')
}

function isMethod<Name extends string>(
  client: RedisClient,
  name: Name,
): client is Extract<RedisClient, Record<Name, unknown>> {
  return typeof Reflect.get(client, name) === 'function'
}

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

/** Why a command failed, without what may be secret: messages of clients quote addresses, passwords and arguments. */
export function reasonOf(thrown: unknown): string {
  const { code } = (thrown ?? {}) as { code?: unknown }
  if (typeof code === 'string' && /^[A-Z_0-9]+$/.test(code)) return code
  // Redis begins its errors with a word of their kind: NOAUTH, READONLY, OOM, LOADING.
  return /^-?([A-Z]{2,}) /.exec(messageOf(thrown))?.[1] ?? 'the client failed'
}

function messageOf(thrown: unknown): string {
  const { message } = (thrown ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : ''
}

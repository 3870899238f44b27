/** A step of a register had no response in time. The register may still execute it. */
export class NoReply extends Error {}

/** The result of a client has the wrong shape. */
export class ForeignReply extends Error {}

export const UNKNOWN_REASON = 'the client failed'

/**
 * Describes why a step failed, without secrets: the messages of clients quote addresses, users, passwords and values.
 *
 * @param advice Advice by code.
 * @param nameIn Finds a name in the message of an error without a code.
 */
export function reasonIn(
  thrown: unknown,
  advice: Readonly<Record<string, string>> = {},
  nameIn: (message: string) => string | undefined = () => undefined,
): string {
  if (thrown instanceof NoReply || thrown instanceof ForeignReply) return thrown.message
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown }
  const isCode = typeof code === 'string' && /^[A-Z_0-9]{1,60}$/.test(code)
  const name = isCode ? code : typeof message === 'string' ? nameIn(message) : undefined
  if (name === undefined) return UNKNOWN_REASON
  return Object.hasOwn(advice, name) ? `${name}: ${advice[name]}` : name
}

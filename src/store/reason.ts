/** A step of a register had no answer in time. The register may still execute the step. */
export class NoReply extends Error {}

/** The answer of a client has the wrong form. */
export class ForeignReply extends Error {}

export const UNKNOWN_REASON = 'the client failed'

/**
 * Says why a step failed, without secrets: the messages of clients quote addresses, users, passwords and values.
 *
 * @param advice Advice by code.
 * @param nameIn Finds a name in the message of an error that has no code.
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

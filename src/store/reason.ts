/** A step of a register that had no answer in time. It may yet be executed. */
export class NoAnswer extends Error {}

/** A client answered something else than it has to. */
export class ForeignAnswer extends Error {}

export const UNKNOWN_REASON = 'the client failed'

/**
 * Why a step failed, without what may be secret: messages of clients quote addresses, users, passwords and values.
 *
 * @param advice What to do about a code.
 * @param nameIn What takes the place of a code, in the message of an error that has none.
 */
export function reasonIn(
  thrown: unknown,
  advice: Readonly<Record<string, string>> = {},
  nameIn: (message: string) => string | undefined = () => undefined,
): string {
  if (thrown instanceof NoAnswer || thrown instanceof ForeignAnswer) return thrown.message
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown }
  const isCode = typeof code === 'string' && /^[A-Z_0-9]{1,60}$/.test(code)
  const name = isCode ? code : typeof message === 'string' ? nameIn(message) : undefined
  if (name === undefined) return UNKNOWN_REASON
  return Object.hasOwn(advice, name) ? `${name}: ${advice[name]}` : name
}

/** Reads a config as axios does: what somebody put on `Object.prototype` is no member of it. */
export function memberOf<Holder extends object, Name extends keyof Holder>(
  holder: Holder,
  name: Name,
): Holder[Name] | undefined {
  const value = holder[name]
  return value !== undefined && name in Object.prototype && !Object.hasOwn(holder, name) ? undefined : value
}

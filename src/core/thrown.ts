/** What code that is not ours throws may be anything, and reading it may throw as well. */

/** @returns The member; undefined if there is none, if it cannot be read, or if only `Object.prototype` has it. */
export function member(thrown: unknown, name: string | symbol): unknown {
  try {
    if (typeof thrown !== 'object' || thrown === null) return undefined
    if (name in Object.prototype && !hasOfItsOwn(thrown, name)) return undefined
    return Reflect.get(thrown, name)
  } catch {
    return undefined
  }
}

/** Whether the object or one of its prototypes before `Object.prototype` has the member. */
function hasOfItsOwn(thrown: object, name: string | symbol): boolean {
  for (let link: object | null = thrown; link && link !== Object.prototype; link = parentOf(link))
    if (Object.hasOwn(link, name)) return true
  return false
}

const parentOf = (object: object) => Object.getPrototypeOf(object) as object | null

/** Calls a function that is not ours. What it throws reaches nobody. */
export function quietly<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

interface Options {
  readonly mode: 'shared' | 'exclusive'
  readonly ifAvailable?: boolean
}

/** Puts the part of the Web Locks API that the package uses in the place of `navigator.locks`. */
export function fakeLocks() {
  const held = new Map<object, { readonly name: string; readonly mode: string }>()
  let isDenied = false
  const locks = {
    async request(name: string, { mode }: Options, use: (lock: unknown) => unknown) {
      if (isDenied) throw new DOMException('denied', 'SecurityError')
      const others = [...held.values()].filter((lock) => lock.name === name)
      if (others.some((lock) => lock.mode === 'exclusive' || mode === 'exclusive')) return use(null)
      const lock = { name, mode }
      held.set(lock, lock)
      try {
        return await use(lock)
      } finally {
        held.delete(lock)
      }
    },
  }
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
  return {
    get held() {
      return held.size
    },
    /** As when all tabs that hold locks die. */
    die: () => held.clear(),
    deny: (denies: boolean) => void (isDenied = denies),
    remove() {
      if (before) Object.defineProperty(globalThis, 'navigator', before)
      else Reflect.deleteProperty(globalThis, 'navigator')
    },
  }
}

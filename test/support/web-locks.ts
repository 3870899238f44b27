interface Options {
  readonly mode: 'shared' | 'exclusive'
  readonly ifAvailable?: boolean
}

/** All pages are in one process, so a dead page must not respond. */
function fakeChannels() {
  const open = new Set<FakeChannel>()
  class FakeChannel {
    readonly name: string
    readonly listeners: ((event: { data: unknown }) => void)[] = []
    constructor(name: string) {
      this.name = name
      open.add(this)
    }
    addEventListener(_: 'message', listener: (event: { data: unknown }) => void): void {
      this.listeners.push(listener)
    }
    postMessage(data: unknown): void {
      const others = [...open].filter((one) => one !== this && one.name === this.name)
      for (const one of others)
        queueMicrotask(() => open.has(one) && one.listeners.forEach((listener) => listener({ data })))
    }
    close(): void {
      open.delete(this)
    }
  }
  const before = globalThis.BroadcastChannel
  Object.assign(globalThis, { BroadcastChannel: FakeChannel })
  return { open, remove: () => void Object.assign(globalThis, { BroadcastChannel: before }) }
}

/** Replaces `navigator.locks` by the part of the Web Locks API that the package uses, and `BroadcastChannel` by channels. */
export function fakeLocks() {
  const channels = fakeChannels()
  const held = new Map<object, { readonly name: string; readonly mode: string }>()
  let isDenied = false
  let isSilent = false
  /** Settles the requests that were made in silence. */
  const waiting: (() => void)[] = []
  const locks = {
    async request(name: string, { mode }: Options, use: (lock: unknown) => unknown) {
      if (isSilent) await new Promise<void>((respond) => waiting.push(respond))
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
  const query = async () => {
    await fake.beforeQuery?.()
    if (isDenied) throw new DOMException('denied', 'SecurityError')
    return { held: [...held.values()] }
  }
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  Object.defineProperty(globalThis, 'navigator', { value: { locks: { ...locks, query } }, configurable: true })
  const fake = {
    beforeQuery: undefined as (() => Promise<unknown>) | undefined,
    get held() {
      return held.size
    },
    /** Open channels. */
    get channels() {
      return channels.open.size
    },
    /** As when all tabs that hold locks die. */
    die() {
      held.clear()
      channels.open.clear()
    },
    /** As when all tabs that reply stand still: they keep their locks. */
    freeze: () => channels.open.clear(),
    /** As when the user clears the site data in Chromium: new pages do not see the locks of open pages. */
    part: () => held.clear(),
    deny: (denies: boolean) => void (isDenied = denies),
    /** While it lasts, requests get no response. */
    silence(silences: boolean) {
      isSilent = silences
      if (!silences) for (const respond of waiting.splice(0)) respond()
    },
    remove() {
      channels.remove()
      if (before) Object.defineProperty(globalThis, 'navigator', before)
      else Reflect.deleteProperty(globalThis, 'navigator')
    },
  }
  return fake
}

/** The parts of IndexedDB that the package uses, in memory. A test controls its steps. */
export interface FakeDatabases {
  readonly open: (name: string) => object
  /** All entries, by database. */
  readonly databases: ReadonlyMap<string, Map<string, unknown>>
  /** Called in `open` and before each write. What it throws is the error of that step; `never`: the step never ends. */
  trouble: (step: 'open' | 'put') => 'never' | undefined
}

/** Replaces `indexedDB` by a fake. */
export function fakeIndexedDb(fake = {} as FakeDatabases): void {
  const databases = new Map<string, Map<string, unknown>>()
  Object.assign(fake, {
    databases,
    trouble: () => undefined,
    open(name: string) {
      const request: Record<string, unknown> = {}
      later(() => {
        const failure = failureOf(() => fake.trouble('open'))
        if (failure === 'never') return
        if (failure) {
          request.error = failure
          call(request.onerror)
          return
        }
        const isNew = !databases.has(name)
        const entries = databases.get(name) ?? new Map<string, unknown>()
        databases.set(name, entries)
        request.result = { createObjectStore() {}, close() {}, transaction: () => transaction(fake, entries) }
        if (isNew) call(request.onupgradeneeded)
        call(request.onsuccess)
      })
      return request
    },
  })
  Object.defineProperty(globalThis, 'indexedDB', { value: fake, configurable: true })
}

function transaction(fake: FakeDatabases, entries: Map<string, unknown>) {
  const self: Record<string, unknown> = {}
  let failure: unknown
  let open = 0
  const answered = (result: unknown, request: Record<string, unknown> = {}) => {
    open += 1
    later(() => {
      call(request.onsuccess, { target: { result } })
      open -= 1
      if (open > 0 || failure === 'never') return
      if (failure) self.error = failure
      call(failure ? self.onabort : self.oncomplete)
    })
    return request
  }
  self.objectStore = () => ({
    get: (key: string) => answered(entries.get(key)),
    put: (value: unknown, key: string) => {
      failure = failureOf(() => fake.trouble('put'))
      if (!failure) entries.set(key, value)
    },
    openCursor() {
      const keys = [...entries.keys()]
      const at = (key: string | undefined): object | null =>
        key === undefined
          ? null
          : {
              value: entries.get(key),
              delete: () => void entries.delete(key),
              continue: () => void answered(at(keys.shift()), request),
            }
      const request: Record<string, unknown> = {}
      return answered(at(keys.shift()), request)
    },
  })
  return self
}

const later = (step: () => void) => void Promise.resolve().then(step)
const call = (listener: unknown, event?: unknown) => {
  if (typeof listener === 'function') Reflect.apply(listener, undefined, [event])
}

function failureOf(trouble: () => unknown): unknown {
  try {
    return trouble()
  } catch (thrown) {
    return thrown
  }
}

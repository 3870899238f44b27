interface Runtime {
  readonly process?: { getBuiltinModule?(id: string): unknown }
}

/** @returns A module of Node, undefined if the runtime does not have it. Asked when it is needed, so that no import of Node reaches a browser. */
export function builtinModule(id: 'node:async_hooks' | 'node:events' | 'node:http' | 'node:https'): unknown {
  return (globalThis as Runtime).process?.getBuiltinModule?.(id)
}

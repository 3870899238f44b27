interface Runtime {
  readonly process?: { getBuiltinModule?(id: string): unknown }
}

/** @returns A built-in module of Node; undefined if the runtime lacks it. Looked up at run time, so that browser bundles import no Node module. */
export function builtinModule(id: 'node:async_hooks' | 'node:events' | 'node:http' | 'node:https'): unknown {
  return (globalThis as Runtime).process?.getBuiltinModule?.(id)
}

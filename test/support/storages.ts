/**
 * Runs before every test file: disables what the files before it in this process left enabled. jest keeps an
 * AsyncLocalStorage for each file, and each that is enabled is copied at each promise: the last files of a run took ten times
 * as long as they take alone.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type Storage = AsyncLocalStorage<unknown>
type Run = (this: Storage, ...args: unknown[]) => unknown

/** All files of a process share the class, and nothing else. */
const shared = AsyncLocalStorage.prototype as unknown as { run: Run; usedStorages?: Set<Storage> }

if (!shared.usedStorages) {
  const used = (shared.usedStorages = new Set())
  const { run } = shared
  shared.run = function (...args) {
    used.add(this)
    return run.apply(this, args)
  }
}
for (const storage of shared.usedStorages) storage.disable()
shared.usedStorages.clear()

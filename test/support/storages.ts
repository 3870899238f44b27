/**
 * Runs before every test file: disables the AsyncLocalStorages that earlier files in this process left enabled. jest keeps one for
 * each file, and Node copies every enabled one at each promise: without this, the last files of a run took ten times as long as
 * they take alone.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type Storage = AsyncLocalStorage<unknown>
type Run = (this: Storage, ...args: unknown[]) => unknown

/** The class is the only thing that all files of a process share. */
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

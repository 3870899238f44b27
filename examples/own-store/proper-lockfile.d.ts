declare module 'proper-lockfile' {
  interface LockOptions {
    realpath?: boolean
    retries?: { retries: number; minTimeout: number; maxTimeout: number }
  }
  export function lock(file: string, options?: LockOptions): Promise<() => Promise<void>>
}

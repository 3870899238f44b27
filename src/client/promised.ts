/** @returns The result of `call` as a promise. A user's function may throw synchronously; the promise then rejects. */
export function promised<Value>(call: () => Value | PromiseLike<Value>): Promise<Awaited<Value>> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.resolve().then(() => {
      throw error
    })
  }
}

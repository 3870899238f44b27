/** A promise of what `call` gives. It rejects if `call` throws: a user's function may throw synchronously. */
export function promised<Value>(call: () => Value | PromiseLike<Value>): Promise<Awaited<Value>> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.resolve().then(() => {
      throw error
    })
  }
}

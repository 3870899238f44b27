/** A promise of what `call` gives. Of what it throws, too: functions of the user's own may throw at once. */
export function promised<Value>(call: () => Value | PromiseLike<Value>): Promise<Awaited<Value>> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.resolve().then(() => {
      throw error
    })
  }
}

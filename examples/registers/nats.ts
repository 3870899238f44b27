import type { TokenRegister } from 'axios-evergreen/store'

/** The methods of a `KV` of @nats-io/kv that the recipe uses, from `new Kvm(connection).create('tokens', { history: 1 })`. */
interface Bucket {
  get(key: string): Promise<{ operation: string; revision: number; string(): string } | null>
  create(key: string, value: string): Promise<number>
  update(key: string, value: string, revision: number): Promise<number>
}

/** JetStream's error code for a write that expected another revision. */
const WRONG_REVISION = 10_071

/** NATS JetStream, through its key-value buckets. Set the `ttl` of the bucket to a year: a bucket has one `ttl` for all keys. */
export function natsRegister(bucket: Bucket): TokenRegister {
  async function stored(key: string) {
    const entry = await bucket.get(key)
    return entry?.operation === 'PUT' ? { value: entry.string(), revision: entry.revision } : undefined
  }
  const nameOf = (key: string) => Buffer.from(key).toString('base64url') // NATS keys allow no braces
  return {
    kind: 'nats',
    // NATS reports no time, so the clocks of the processes must agree (NTP).
    read: async (key) => ({ now: Date.now(), value: (await stored(nameOf(key)))?.value }),
    async replace(key, expected, value) {
      const stands = await stored(nameOf(key))
      if (stands?.value !== expected) return false
      const written = stands ? bucket.update(nameOf(key), value, stands.revision) : bucket.create(nameOf(key), value)
      return written.then(
        () => true,
        (thrown: { code?: number; api_error?: { err_code: number } }) => {
          if ((thrown.code ?? thrown.api_error?.err_code) === WRONG_REVISION) return false
          throw thrown
        },
      )
    },
  }
}

import { sharedStore } from 'axios-evergreen/store'

/** The record that the tabs of this page share. It is in memory: a page that is loaded again starts without a login. */
export function memoryStore() {
  const values = new Map()
  const key = crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  const register = {
    kind: 'memory',
    read: async (name) => ({ value: values.get(name), now: Math.round(performance.timeOrigin + performance.now()) }),
    async replace(name, expected, value) {
      if (values.get(name) !== expected) return false
      values.set(name, value)
      return true
    },
  }
  return sharedStore(register, { encryptionKeys: [key.then((made) => ({ id: 'page', key: made }))] })
}

import type { RecordState } from '../../src/record/record-shape.ts'
import type { SharedStoreOptions, TokenRegister } from '../../src/store/index.ts'
import { storedIn } from '../../src/store/record-text.ts'
import { KeyRing } from '../../src/store/sealed-box.ts'

interface Slots {
  readonly slots: Readonly<Record<string, { readonly accessToken: string }>>
}

/** Remembers what processes have written into their register. */
export class KeptText {
  text = ''
  readonly keys = new Set<string>()
  readonly #keyRing: KeyRing

  constructor(encryptionKeys: SharedStoreOptions['encryptionKeys']) {
    this.#keyRing = new KeyRing(encryptionKeys)
  }

  seen(register: TokenRegister): TokenRegister {
    return {
      kind: register.kind,
      read: (...given) => register.read(...given),
      replace: async (...given) => {
        const isStored = await register.replace(...given)
        const [key, , text] = given
        if (isStored) {
          this.text = text
          this.keys.add(key)
        }
        return isStored
      },
    }
  }

  /** Reads what other processes have written. */
  async read(register: TokenRegister, key: string): Promise<void> {
    this.text = (await register.read(key)).value ?? ''
    this.keys.add(key)
  }

  /** The record of the login, which is the only one. */
  async record(): Promise<RecordState> {
    const [key = ''] = this.keys
    return (await storedIn(this.text, key, this.#keyRing)).state!
  }

  /** The access tokens of its resources. */
  async slots(): Promise<string[]> {
    const { slots } = ((await this.record()).resources ?? { slots: {} }) as Slots
    return Object.values(slots).map(({ accessToken }) => accessToken)
  }
}

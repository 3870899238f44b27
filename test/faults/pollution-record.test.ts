import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { valuesOf } from './support/attacker.ts'
import { KEEPERS, life } from './support/polluted-life.ts'

const NAMES = ['state', 'tokens', 'context', 'isPrivate']

const KINDS = KEEPERS.filter((keeper) => keeper !== 'SQLite').flatMap((keeper) =>
  [true, false].map((isLogin) => [keeper, isLogin] as const),
)

describe("given a member on Object.prototype, with the attacker's whole object (all others: pollution-members)", () => {
  afterEach(() => {
    for (const name of NAMES) Reflect.deleteProperty(Object.prototype, name)
  })

  it.each(KINDS)(
    'when an account with %s lives (login: %s), then nothing is different (F402)',
    async (keeper, isLogin) => {
      const given = await import('./support/polluted-package.ts')
      const usual = await life(given, { keeper, isLogin, axios })
      const odd: Record<string, unknown> = {}
      for (const name of NAMES)
        for (const value of valuesOf(name)) {
          Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
          const seen = await life(given, { keeper, isLogin, axios }).catch((error: unknown) => [
            String((error as Error).stack),
          ])
          Reflect.deleteProperty(Object.prototype, name)
          const first = seen.findIndex((line, n) => line !== usual[n])
          if (first >= 0) odd[name] ??= [JSON.stringify(value).slice(0, 20), usual[first], seen[first]?.slice(0, 300)]
        }
      expect(odd).toEqual({})
    },
  )
})

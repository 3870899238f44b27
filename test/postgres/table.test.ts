import { describe, expect, it } from '@jest/globals'
import { createTableStatement } from '../../src/postgres/index.ts'
import { postgresRegister } from '../../src/postgres/postgres-register.ts'

const pool = { query: async () => ({ rows: [] }) }

describe('given the name of a table', () => {
  it.each([
    [undefined, '"evergreen_tokens"'],
    ['tokens', '"tokens"'],
    ['auth.Tokens_2', '"auth"."Tokens_2"'],
    ['user', '"user"'],
    ['a'.repeat(63), `"${'a'.repeat(63)}"`],
  ])('when it is %s, then the statement contains it quoted', (name, quoted) => {
    expect(createTableStatement(name)).toContain(`CREATE TABLE IF NOT EXISTS ${quoted} (`)
    expect(postgresRegister(pool, name).kind).toBe('postgres')
  })

  it.each([
    ['', "got ''"],
    ['tokens; DROP TABLE users', "got 'tokens; DROP TABLE users'"],
    ['"tokens"', `got '"tokens"'`],
    ['a.b.c', "got 'a.b.c'"],
    ['.tokens', "got '.tokens'"],
    ['tokens\n', 'got'],
    ['2fast', "got '2fast'"],
    ['a'.repeat(64), 'got'],
    [7, 'got 7'],
    [null, 'got null'],
  ])('when it is %j, then it is rejected, with its value', (name, got) => {
    const message = `table must be a name such as evergreen_tokens or auth.evergreen_tokens, ${got}`
    for (const use of [createTableStatement, (table: string) => postgresRegister(pool, table)]) {
      expect(() => use(name as string)).toThrow(TypeError)
      expect(() => use(name as string)).toThrow(message)
    }
  })
})

describe('given a value that is not a pool', () => {
  it.each([[undefined], [null], ['postgres://user:s3cret@host'], [() => []], [{ query: 'SELECT 1' }]])(
    'when it is %s, then it is rejected, with the correct code (F181)',
    (given) => {
      const create = () => postgresRegister(given as never)
      expect(create).toThrow(TypeError)
      expect(create).toThrow(/^pool must have a method query\(text, values\).*sql\.unsafe\(text, values\)/)
      expect(create).not.toThrow(/s3cret/)
    },
  )
})

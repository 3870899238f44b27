import { describe, expect, it } from '@jest/globals'
import { type PostgresClient, postgresRegister } from '../../src/postgres/postgres-register.ts'

const client = (options?: unknown) => ({ query: async () => ({ rows: [] }), options }) as PostgresClient

describe('given a client of PostgreSQL', () => {
  it.each<[string, unknown, number | undefined]>([
    ['a pool of ten connections', { max: 10 }, 10],
    ['a pool of one', { max: 1 }, 1],
    ['no options', undefined, undefined],
    ['options without a number', {}, undefined],
    ['a list of numbers', { max: [10] }, undefined],
    ['no connection', { max: 0 }, undefined],
    ['no end', { max: Infinity }, undefined],
  ])('when it has %s, then the store reads how many statements it runs at once (F296)', (_, options, capacity) => {
    expect(postgresRegister(client(options)).capacity).toBe(capacity)
  })
})

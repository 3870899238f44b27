import { describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

describe('given the rules for acts, each taken out, and courses whose steps of the store take drawn times', () => {
  it.each([
    ['F399', 'two-acts'],
    ['F400', 'told-in-turn'],
    ['F401', 'two-acts'],
  ])('when it is %s, then fewer than 500 courses find that, whatever the seed', async (rule, property) => {
    const args = ['scripts/explore/removed.mjs', rule, property, '499', '1', '2', '3']
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const found = /^F\d+ taken out, [\w-]+, seed \d: found after \d+$/
    expect(stdout.trim().split('\n')).toEqual(Array(3).fill(expect.stringMatching(found)))
  })
})

import { expect, it } from '@jest/globals'
import { Together } from '../../src/store/together.ts'

/** Work whose flights end by hand. */
function start() {
  const together = new Together<number>()
  const ends: (() => void)[] = []
  const ask = (key = 'a') => together.run(key, () => new Promise((resolve) => ends.push(() => resolve(ends.length))))
  return { ask, ends, end: (n: number) => ends[n]!() }
}

it('given work in flight, when two callers join, then they share the next flight, which begins when this one has ended', async () => {
  const { ask, ends, end } = start()
  const first = ask()
  const later = [ask(), ask()]
  expect(ends).toHaveLength(1)
  end(0)
  await first
  await Promise.resolve()
  expect(ends).toHaveLength(2)
  // A caller that joins now is too late for the second flight.
  const last = ask()
  end(1)
  expect(await Promise.all(later)).toEqual([2, 2])
  await Promise.resolve()
  expect(ends).toHaveLength(3)
  end(2)
  expect(await last).toBe(3)
})

it('given work that has ended, when a caller joins, then work begins at once, and nothing is kept for its key', async () => {
  const { ask, ends, end } = start()
  for (let n = 0; n < 3; n += 1) {
    const asked = ask()
    expect(ends).toHaveLength(n + 1)
    end(n)
    await asked
    await Promise.resolve()
  }
})

it('given work in flight, when a caller joins with another key, then that work begins at once', () => {
  const { ask, ends } = start()
  void ask('a')
  void ask('b')
  expect(ends).toHaveLength(2)
})

it('given work that fails, when others wait for the next flight, then theirs begins anyway', async () => {
  const together = new Together<string>()
  const failed = together.run('a', () => Promise.reject(new Error('away')))
  const next = together.run('a', async () => 'here')
  await expect(failed).rejects.toThrow('away')
  expect(await next).toBe('here')
})

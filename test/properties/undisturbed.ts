import { afterAll, beforeAll, beforeEach, jest } from '@jest/globals'
import { createHash } from 'node:crypto'
import { realProcess } from '../support/real-process.ts'

/** Gives the same course the same order of events each time. @returns the unhandled rejections, as they occur */
export function undisturbed(): unknown[] {
  const unhandled: unknown[] = []
  const record = (reason: unknown) => void unhandled.push(reason)
  beforeAll(() => void realProcess.on('unhandledRejection', record))
  afterAll(() => void realProcess.off('unhandledRejection', record))

  // Hashing on other threads would give the same course another order of events each time.
  beforeEach(() => {
    jest.spyOn(crypto.subtle, 'digest').mockImplementation(
      async (_, data) =>
        new Uint8Array(
          createHash('sha256')
            .update(data as Uint8Array)
            .digest(),
        ).buffer,
    )
  })
  return unhandled
}

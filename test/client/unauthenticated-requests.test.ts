import { expect, it } from '@jest/globals'
import { UnauthenticatedRequests } from '../../src/client/unauthenticated-requests.ts'
import { isReplayable } from '../../src/client/bodies.ts'
import type { TokenAccess } from '../../src/client/token-access.ts'

it('given requests without a token, when they are sent to 101 origins, then each of a hundred is reported once, with the origins that may have it', () => {
  const reported: string[] = []
  const access = { anomaly: (_: string, message: string) => reported.push(message) > 0 } as unknown as TokenAccess
  const bare = new UnauthenticatedRequests()
  for (let n = 0; n < 101; n += 1)
    for (let time = 0; time < 2; time += 1)
      bare.reportOrigin(`https://${n}.test`, ['https://a.test', 'https://b.test'], [access])
  expect(reported).toHaveLength(100)
  expect(reported[0]).toBe(
    'A request to https://0.test went out without a token: only https://a.test, https://b.test may have it',
  )
})

it('given a body that is a function, then it is not sent a second time', () => {
  expect([isReplayable(() => 'body'), isReplayable('body')]).toEqual([false, true])
})

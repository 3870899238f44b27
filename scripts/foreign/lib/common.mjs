// Checks that run for each library, in both orders.
import assert from 'node:assert/strict'
import axios from 'axios'
import { isTokenError } from 'axios-evergreen'

export const COMMON = {
  async 'three requests at once get one token'({ get, api, tokenCalls }) {
    const answers = await Promise.all([get('/one'), get('/two'), get('/three')])
    assert.deepEqual(statuses(answers), [200, 200, 200])
    assert.deepEqual([tokenCalls(), api.served], [1, [200, 200, 200]])
  },

  async 'the token service is down'(world) {
    const { get, api, service, tokenCalls } = world
    service.failNext('obtain', { status: 503 })
    // Twice the same address: a library that joins such requests must end both.
    const errors = await Promise.all([failureOf(get('/orders')), failureOf(get('/orders'))])
    for (const error of errors) assertTokenError(error, 'ERR_TOKEN_SERVICE_UNAVAILABLE', true)
    assert.deepEqual([tokenCalls(), api.served], [1, []])
  },

  async 'the credentials are rejected'(world) {
    const { get, post, api, service, tokenCalls } = world
    service.failNext('obtain', { status: 400 })
    const errors = await Promise.all([failureOf(get('/orders')), failureOf(post('/orders', { a: 1 }))])
    for (const error of errors) assertTokenError(error, 'ERR_CREDENTIALS_REJECTED', false)
    assert.deepEqual([tokenCalls(), api.served], [1, []])
  },

  async 'the API rejects the token'({ get, post, api, tokenCalls }) {
    await get('/before')
    api.revokeTokens()
    const answers = await Promise.all([get('/orders'), post('/orders', { a: 1 })])
    assert.deepEqual(statuses(answers), [200, 200])
    assert.equal(tokenCalls(), 2)
    // The library decides whether it sends both before the token is replaced. Each rejected request has one replay.
    const refused = api.served.filter((status) => status === 401).length
    assert.ok(refused === 1 || refused === 2, `${refused} were rejected`)
    assert.equal(api.served.length, 3 + refused)
  },

  async 'a caller aborts while it waits for the token'({ get, api, holdTokenCalls, tokenCalls }) {
    const { begun, release } = holdTokenCalls()
    const controller = new AbortController()
    const aborted = failureOf(get('/orders', { signal: controller.signal }))
    const others = [get('/orders'), get('/other')]
    await begun
    controller.abort()
    // The abort ends the wait at once: the token call is still held.
    assert.ok(axios.isCancel(await aborted), 'the error is not the cancellation of axios')
    assert.deepEqual(api.served, [])
    release()
    assert.deepEqual(statuses(await Promise.all(others)), [200, 200])
    assert.equal(tokenCalls(), 1)
  },

  async 'the API fails'({ post, api }) {
    api.failNext(500)
    const error = await failureOf(post('/orders', { a: 1 }))
    assert.equal(error.response?.status, 500)
    assert.equal(error.config.headers.has('Authorization'), false)
  },
}

/** After each check: every address that was requested, and a new one, responds now. */
export async function worksLater({ get, asked, clock }) {
  // After rejected credentials the cool-down is a minute.
  await clock.advance(61_000)
  for (const url of [...asked, '/later']) assert.equal((await get(url)).status, 200)
}

export async function failureOf(promise) {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new assert.AssertionError({ message: 'the request succeeded' })
}

export function assertTokenError(error, code, retryable) {
  if (!isTokenError(error, code))
    throw new assert.AssertionError({ message: `not ${code} but ${error?.name}: ${error?.message}` })
  assert.equal(error.retryable, retryable, 'retryable')
}

export function statuses(answers) {
  return answers.map(({ status }) => status)
}

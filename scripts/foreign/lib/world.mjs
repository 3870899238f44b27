import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager } from 'axios-evergreen'
import { manualClock, startTokenService } from 'axios-evergreen/testing'
import { MockedApi, ServiceApi } from './apis.mjs'
import { printed } from './printed.mjs'

export const ORDERS = ['attachBearer first', 'library first']

/**
 * An instance with the attachment and a library on it, a real token service, and an API: a mocked one if the library mocks. The manager
 * does not repeat a failed token call; pauses and cool-downs last until a check moves the clock.
 */
export async function startWorld(program, order, adapter) {
  const service = await startTokenService({ accessLifetimeMs: 600_000 })
  const clock = manualClock()
  const api = program.isMock ? new MockedApi() : new ServiceApi(service)
  const world = {
    service,
    clock,
    api,
    secrets: new Set([service.client.clientSecret]),
    /** Descriptions of the outcomes that showed a secret. */
    leaks: [],
    /** Addresses that were asked for, and requests that have not ended. */
    asked: new Set(),
    underWay: new Set(),
    tokenCalls: () => service.count('obtain'),
    get: (url, config) => world.send({ ...config, url }),
    post: (url, data, config) => world.send({ ...config, method: 'post', url, data }),
    send(config) {
      const outcome = observed(world, config)
      // A check that has failed no longer handles the outcome.
      outcome.catch(() => undefined)
      return outcome
    },
  }
  Object.assign(world, await program.prepare?.(world))
  const source = clientCredentials({ baseUrl: service.baseUrl, ...service.client, transport: world.transport })
  const managerOf = (options) => createTokenManager({ clock, retry: { maxAttempts: 1 }, ...options })
  const tokens = managerOf({ source: watched(source, world) })
  const instance = axios.create({ baseURL: world.baseUrl ?? api.baseUrl, proxy: false, ...(adapter && { adapter }) })
  const useInstance = (one) => (world.request = (config) => one.request(config))
  Object.assign(world, { tokens, instance, managerOf, useInstance })
  useInstance(instance)
  const steps = [
    () => attachBearer(instance, tokens),
    async () => Object.assign(world, await program.put(instance, world)),
  ]
  for (const step of order === ORDERS[0] ? steps : steps.reverse()) await step()
  const output = recordedOutput()
  world.end = async () => {
    await tokens.close()
    await program.end?.(world)
    await service.close()
    const said = output.end()
    if (shows(said, world)) world.leaks.push(`what was written to the console: ${excerpt(said, world)}`)
  }
  world.said = () => output.said()
  return world
}

/** Sends a request, and prints its outcome as a caller may. */
async function observed(world, config) {
  const name = `${config.method ?? 'get'} ${config.url}`
  world.asked.add(config.url)
  const entry = { name }
  world.underWay.add(entry)
  try {
    const response = await world.request(config)
    inspected(response, `the response to ${name}`, world)
    return response
  } catch (error) {
    inspected(error, `the error of ${name}`, world)
    throw error
  } finally {
    world.underWay.delete(entry)
  }
}

function inspected(outcome, what, world) {
  const text = printed(outcome)
  if (shows(text, world)) world.leaks.push(`${what}: ${excerpt(text, world)}`)
}

function shows(text, { secrets }) {
  return [...secrets].some((secret) => text.includes(secret))
}

/** @returns The text around a secret, without the secret. */
function excerpt(text, { secrets }) {
  const secret = [...secrets].find((one) => text.includes(one))
  const at = text.indexOf(secret)
  const around = text.slice(Math.max(0, at - 120), at + secret.length + 20)
  return around.replaceAll(secret, '<secret>').replace(/\s+/g, ' ')
}

/** @returns The source, with its tokens added to `secrets`, and with a gate before its token calls. */
function watched(source, world) {
  let opened
  /** Makes token calls wait until `release()`. `begun` resolves when the first of them waits. */
  world.holdTokenCalls = () => {
    let open, begin
    const begun = new Promise((resolve) => (begin = resolve))
    opened = { promise: new Promise((resolve) => (open = resolve)), begin }
    return { begun, release: () => ((opened = undefined), open()) }
  }
  return {
    id: source.id,
    origin: source.origin,
    async obtain(context) {
      opened?.begin()
      await opened?.promise
      const grant = await source.obtain(context)
      world.secrets.add(grant.accessToken)
      world.api.issued?.(grant.accessToken)
      return grant
    },
  }
}

/** Collects what is written to the console instead of printing it: a token in it would be a failure. */
function recordedOutput() {
  const streams = [process.stdout, process.stderr].map((stream) => [stream, stream.write])
  let said = ''
  for (const [stream] of streams)
    stream.write = (chunk, ...rest) => {
      said += chunk
      rest.find((one) => typeof one === 'function')?.()
      return true
    }
  return {
    said: () => said,
    end() {
      for (const [stream, write] of streams) stream.write = write
      return said
    },
  }
}

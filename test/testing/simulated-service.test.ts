import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { describe, expect, it, jest } from '@jest/globals'
import { startTokenService } from '../../tools/testing/index.ts'
import { callApi, newPair, obtainAsLogin, refresh, startWorld, until } from './world.ts'

/** Holds the timers of the service until the test fires them. */
function holdTimers() {
  const held: { fire: () => void; delayMs: number | undefined }[] = []
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((callback, delayMs) => {
    held.push({ fire: callback, delayMs })
    return held.length as unknown as NodeJS.Timeout
  })
  return { held, cleared: jest.spyOn(globalThis, 'clearTimeout').mockImplementation(() => {}) }
}

const connectTo = async (baseUrl: string): Promise<Socket> => {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  return socket
}

describe('given a latency', () => {
  it('when a token is requested, then the service acts at once and responds when it has passed', async () => {
    const service = await startWorld({ latencyMs: 250 })
    const { held } = holdTimers()
    const answer = obtainAsLogin(service)
    await until(() => held.length === 1)
    expect(held[0]!.delayMs).toBe(250)
    expect(service.log).toEqual([])
    await service.stealRefreshToken()
    held[0]!.fire()
    expect((await answer).status).toBe(200)
    expect(service.count('obtain')).toBe(1)
  })

  it('when a token request is rejected, then that response waits too; that of a resource does not', async () => {
    const service = await startWorld({ latencyMs: 1 })
    const { held } = holdTimers()
    expect((await callApi(service, 'none')).status).toBe(401)
    expect(held).toEqual([])
    const answer = refresh(service, 'unknown')
    await until(() => held.length === 1)
    held[0]!.fire()
    expect((await answer).status).toBe(401)
  })

  it('when the client leaves during it, then the wait ends and the log shows that no response was sent', async () => {
    const service = await startWorld({ latencyMs: 60_000 })
    const { held, cleared } = holdTimers()
    const leave = new AbortController()
    const answer = obtainAsLogin(service, leave.signal)
    await until(() => held.length === 1)
    leave.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    await until(() => service.log.length === 1)
    expect(service.log).toMatchObject([{ kind: 'obtain', status: 0 }])
    expect(cleared).toHaveBeenCalledWith(1)
  })

  it('when the service is closed during it, then no timer is left', async () => {
    const service = await startWorld({ latencyMs: 60_000 })
    const { held, cleared } = holdTimers()
    const answer = expect(obtainAsLogin(service)).rejects.toMatchObject({ message: 'fetch failed' })
    await until(() => held.length === 1)
    await service.close()
    await answer
    expect(cleared).toHaveBeenCalledWith(1)
  })
})

describe('given a running service', () => {
  it('when it is called at another address of this machine, then the connection is refused', async () => {
    const { baseUrl } = await startWorld()
    const elsewhere = fetch(baseUrl.replace('127.0.0.1', '127.0.0.2'))
    await expect(elsewhere).rejects.toMatchObject({ message: 'fetch failed' })
  })

  it('when it responds, then it announces no timeout for idle connections', async () => {
    const response = await fetch((await startWorld()).baseUrl)
    expect([response.headers.get('connection'), response.headers.get('keep-alive')]).toEqual(['keep-alive', null])
  })
})

describe('given a service that is closed', () => {
  it('when requests hang and connections idle, then all are ended and the port is free', async () => {
    const service = await startTokenService()
    const agent = new Agent({ keepAlive: true })
    const kept = request(service.baseUrl, { agent }).end()
    const [response] = (await once(kept, 'response')) as [NodeJS.ReadableStream]
    response.resume()
    await once(response, 'end')
    const silent = await connectTo(service.baseUrl)
    silent.resume()
    service.failNext('resource', { hang: true })
    const hanging = expect(fetch(service.baseUrl)).rejects.toMatchObject({ message: 'fetch failed' })
    await until(() => service.count('resource') === 2)

    await service.close()
    await Promise.all([hanging, once(silent, 'close')])
    const { port } = new URL(service.baseUrl)
    const successor = await startTokenService({ port: Number(port) })
    expect(successor.baseUrl).toBe(service.baseUrl)
    await successor.close()
    agent.destroy()
  })

  it('when it is closed twice, then both calls resolve', async () => {
    const service = await startTokenService()
    await Promise.all([service.close(), service.close()])
    await service.close()
    await expect(fetch(service.baseUrl)).rejects.toMatchObject({ message: 'fetch failed' })
  })
})

describe('given misbehaving clients', () => {
  it('when one leaves in the middle of its request, then nothing is logged, no fault is used, and others get their responses', async () => {
    const service = await startWorld()
    service.failNext('obtain', { status: 503 })
    const socket = await connectTo(service.baseUrl)
    socket.write('POST /token/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n')
    // The service sends "100 Continue", so it has begun to read the body.
    await once(socket, 'data')
    socket.write('{"data"', () => socket.destroy())
    await once(socket, 'close')
    expect(service.log).toEqual([])
    expect((await obtainAsLogin(service)).status).toBe(503)
    expect((await obtainAsLogin(service)).status).toBe(200)
    await service.close()
    expect(service.log.map((served) => served.status)).toEqual([503, 200])
  })

  it('when one does not speak HTTP, then others get their responses', async () => {
    const service = await startWorld()
    const socket = await connectTo(service.baseUrl)
    socket.resume().write('hello\r\n\r\n')
    await once(socket, 'close')
    expect((await newPair(service)).is_2fa_confirmed).toBe(false)
  })

  it('when many leave before their responses, then the service keeps running', async () => {
    const service = await startWorld()
    for (let n = 0; n < 50; n += 1) {
      const socket = await connectTo(service.baseUrl)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.destroy())
    }
    await until(() => service.count('resource') > 0)
    expect((await obtainAsLogin(service)).status).toBe(200)
  })
})

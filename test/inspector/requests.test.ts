import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import { followRequests } from '../../src/inspector/requests.ts'

describe('given an instance whose requests are followed, and an earlier library that retries failed requests', () => {
  it('when a request fails and is sent again, then it is reported once, and its config is unchanged', async () => {
    const statuses = [503, 503, 200]
    const adapter = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => {
      const answer = { status: statuses.shift()!, statusText: '', data: '', headers: {}, config }
      if (config.validateStatus?.(answer.status)) return answer
      throw Object.assign(new Error(`responded with ${answer.status}`), { config, response: answer })
    }
    const api = axios.create({ adapter })
    const usual = api.defaults.validateStatus
    api.interceptors.response.use(undefined, (error: AxiosError) => api(error.config!))
    const told: string[] = []
    const stop = followRequests(api, (kind) => told.push(kind))
    const { config } = await api.get('/wallet')
    expect([told, config.validateStatus]).toEqual([['answered'], usual])
    stop()
  })
})

import axios from 'axios'
import { attachBearer, createTokenManager, isTokenError, loginPassword } from 'axios-evergreen'

/** The code under test. */
export function walletOf(settings: { baseUrl: string; login: string; password: string }) {
  const tokens = createTokenManager({ source: loginPassword(settings), retry: { maxAttempts: 2 } })
  const api = axios.create({ baseURL: settings.baseUrl })
  attachBearer(api, tokens)
  return {
    async isReachable(): Promise<boolean> {
      try {
        return (await api.get('/wallet')).status === 200
      } catch (error) {
        if (isTokenError(error)) return false
        throw error
      }
    },
    close: () => tokens.close(),
  }
}

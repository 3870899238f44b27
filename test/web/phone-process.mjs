// An application on a phone, as a process that can be killed. It tells its parent what came of it, or that it stands still before `holdAt`.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { withKeychain } from './phone.mjs'

const { bundle, code, keychain, tokenEndpoint, act, laterMs, holdAt } = JSON.parse(process.argv[2])
const kept = () => (existsSync(keychain) ? JSON.parse(readFileSync(keychain, 'utf8')) : {})
const still = () => {
  process.send({ isStill: true })
  return new Promise(() => {})
}
let isAnswered = false
const events = []
const globals = {
  events,
  async fetch(...call) {
    if (holdAt === 'the call') return still()
    const answer = await fetch(...call)
    if (holdAt === 'the answer') return still()
    isAnswered = true
    return answer
  },
  SecureStore: {
    getItemAsync: async (name) => kept()[name] ?? null,
    async setItemAsync(name, value) {
      if (isAnswered && holdAt === 'the write') return still()
      writeFileSync(`${keychain}.new`, JSON.stringify({ ...kept(), [name]: value }))
      renameSync(`${keychain}.new`, keychain)
    },
  },
  makeSource: ({ oauth2 }) => oauth2({ tokenEndpoint, clientId: 'app', grant: 'login' }),
}
const wait = setInterval(() => {}, 60_000) // a promise that never settles keeps no process alive
const [now, later] = [Date.now, laterMs]
Date.now = () => now() + later
const result = await withKeychain(readFileSync(bundle, 'utf8'), { ...globals, Date }, code, act).then(
  (token) => ({ token }),
  ({ code: error, message }) => ({ error, message }),
)
clearInterval(wait)
process.send({ ...result, events })
process.disconnect()

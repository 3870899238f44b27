// A command-line tool, all of whose processes share one login: npm run example cli
// MY_TOOL_ISSUER=https://your.server MY_TOOL_CLIENT=your-client MY_TOOL_API=https://your.api npm run example cli login
import axios from 'axios'
import { attachBearer, isLoginRequired } from 'axios-evergreen'
import type { LoginManager } from 'axios-evergreen/login'
import { fromTokenResponse } from 'axios-evergreen/oauth2'
import { allowInsecureRequests, discovery, None } from 'openid-client'
import { logInByBrowser } from './by-browser.ts'
import { logInByDevice } from './by-device.ts'
import { openLogin } from './login.ts'
import { settings } from './settings.ts'

const { issuer, clientId, api } = settings
const USAGE = `Usage: ${settings.name} login [--device] | whoami | logout`

const commands = {
  async login(login: LoginManager, option?: string) {
    // Plain http only on this machine, for a server that you try out.
    const isLocal = new URL(issuer).hostname === '127.0.0.1'
    const execute = isLocal ? [allowInsecureRequests] : []
    const server = await discovery(new URL(issuer), clientId, undefined, None(), { execute })
    const response = await (option === '--device' ? logInByDevice : logInByBrowser)(server)
    await login.adopt(fromTokenResponse(response))
    return 'You are logged in.'
  },

  async whoami(login: LoginManager) {
    const client = axios.create({ baseURL: api })
    attachBearer(client, login)
    const { data } = await client.get<{ sub: string }>('/me')
    return `You are ${data.sub}.`
  },

  async logout(login: LoginManager) {
    const { revoked } = await login.logout()
    return revoked ? 'You are logged out.' : 'You are logged out here. The server did not confirm it.'
  },
}

const [command = '', option] = process.argv.slice(2)
if (Object.hasOwn(commands, command)) await run(command as keyof typeof commands)
else console.log(USAGE)

async function run(name: keyof typeof commands): Promise<void> {
  const login = openLogin()
  try {
    console.log(await commands[name](login, option))
  } catch (error) {
    process.exitCode = 1
    console.error(
      isLoginRequired(error, login) ? `You are not logged in. Run: ${settings.name} login` : (error as Error).message,
    )
  } finally {
    // A renewal in the background completes, and its tokens are stored.
    await login.close()
  }
}

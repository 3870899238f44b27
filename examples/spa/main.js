import axios from 'axios'
import { attachBearer, createTokenManager, isLoginRequired } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import { inspect } from 'axios-evergreen/web/inspector'

const tokens = createTokenManager({
  source: oauth2({
    tokenEndpoint: new URL('/token', location.href),
    revocationEndpoint: new URL('/revoke', location.href), // for logout()
    clientId: 'spa',
    grant: 'login',
  }),
  store: webStore({ encryptionKeys: [browserKey()] }),
})
const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
// A login or a logout in another tab is noticed at once.
followPage(tokens)
const [form, inside, events, wrong] = ['login', 'inside', 'events', 'wrong'].map((id) => document.getElementById(id))
// For development: shows what the manager does, and how requests end.
inspect(tokens, events, { api })
const show = (isInside) => {
  form.hidden = isInside
  inside.hidden = !isInside
}

async function ask() {
  try {
    const { data } = await api.get('/me')
    document.getElementById('user').textContent = data.user
    show(true)
  } catch (error) {
    if (isLoginRequired(error, tokens)) show(false)
    else document.getElementById('user').textContent = error.message
  }
}

form.onsubmit = async (event) => {
  event.preventDefault()
  const response = await fetch('/login', { method: 'POST', body: new URLSearchParams(new FormData(form)) })
  form.password.value = ''
  wrong.textContent = response.ok ? '' : 'Wrong user or password. Try again.'
  if (!response.ok) return form.password.focus()
  const { access_token, expires_in, refresh_token, refresh_expires_in } = await response.json()
  await tokens.adopt({
    ...{ accessToken: access_token, accessLifetimeMs: expires_in * 1_000 },
    ...{ refreshToken: refresh_token, refreshLifetimeMs: refresh_expires_in * 1_000 },
  })
}
// Revokes the refresh token, so that no copy of it is of use. Offline this browser forgets its tokens all the same.
document.getElementById('logout').onclick = () => tokens.logout()
// Each button makes trouble at the service. The renewal meets that trouble at once.
for (const button of document.querySelectorAll('#trouble button'))
  button.onclick = async () => {
    const headers = { Authorization: `Bearer ${await tokens.getAccessToken()}` }
    await fetch(`/trouble/${button.name}`, { method: 'POST', headers })
    if (button.name !== 'revoke') await tokens.renew().catch(() => undefined) // the events show the failure
  }

// A login, a logout, or the end of a login, here or in another tab. After a login this tab asks again, because the user may have changed.
tokens.on('loginChanged', ({ login }) => (login === 'required' ? show(false) : ask()))
if (tokens.status().login === 'required') show(false)
await ask()
setInterval(() => inside.hidden || ask(), 1_000)

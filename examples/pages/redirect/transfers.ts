// A page whose API requires a stronger login for some requests.
import { steppingUp } from './step-up.ts'
import { api, logIn, tokens, wrong } from './tokens.ts'

const app = document.getElementById('app')!
app.innerHTML = `<p role="alert"></p>
  <button id="in">Log in</button>
  <button id="pay">Pay</button>
  <h1></h1>`
const find = (selector: string) => app.querySelector<HTMLElement>(selector)!

find('#in').onclick = () => logIn()
find('#pay').onclick = () =>
  steppingUp(() => api.post<{ paid: string }>(`/transfers${location.search}`)).then(
    ({ data }) => (find('h1').textContent = data.paid),
    (error: Error) => (find('p').textContent = error.message),
  )
const error = await wrong
// The user declined, and may try again.
if (error !== '') sessionStorage.removeItem('asked for')
find('p').textContent = error
const token = await tokens.getAccessToken().catch(() => undefined)
find('h1').textContent = `login ${token === undefined ? 'required' : 'present'}`

// A page without a framework. With a framework, use the session file of its example, and a button instead of the login form.
import { api, logIn, logOut, tokens, wrong } from './tokens.ts'

const app = document.getElementById('app')!
app.innerHTML = `<p role="alert"></p>
  <div id="out" hidden><button id="in">Log in</button></div>
  <div id="home" hidden>
    <h1></h1>
    <button id="other">Use another account</button>
    <button id="logout">Log out</button>
  </div>`
const find = (selector: string) => app.querySelector<HTMLElement>(selector)!

async function show(): Promise<void> {
  const { login } = tokens.status()
  find('#out').hidden = login !== 'required'
  find('#home').hidden = login !== 'present'
  if (login === 'present') find('h1').textContent = (await api.get<{ name: string }>('/me')).data.name
}
tokens.on('loginChanged', ({ account }) => {
  if (account !== 'same') find('h1').textContent = ''
  show().catch(console.warn)
})
find('#in').onclick = () => logIn()
find('#other').onclick = () => logIn({ prompt: 'login' })
find('#logout').onclick = () => logOut()
find('p').textContent = await wrong
await show()

// Angular: an injectable with signals. Zones are not needed.
import { Component, DestroyRef, inject, Injectable, provideZonelessChangeDetection, signal } from '@angular/core'
import { bootstrapApplication } from '@angular/platform-browser'
import { logIn, tokens } from '../tokens.ts'
import { Home } from './home.ts'

@Injectable({ providedIn: 'root' })
export class Session {
  /** Undefined until the manager has read the store. */
  readonly login = signal(tokens.status().login)
  /** Gets a new number whenever the user may have changed. */
  readonly user = signal(0)
  readonly #stop = tokens.on('loginChanged', ({ login, account }) => {
    this.login.set(login)
    if (account !== 'same') this.user.update((n) => n + 1)
  })

  constructor() {
    inject(DestroyRef).onDestroy(this.#stop)
  }
}

@Component({
  selector: '#app',
  imports: [Home],
  // `track` discards the state of the components inside when the user changes.
  template: `@if (session.login() === 'required') {
      <form (submit)="submit($event)">
        <input name="name" aria-label="Name" autocomplete="username" required />
        <input name="password" aria-label="Password" type="password" autocomplete="current-password" required />
        <button>Log in</button>
        <p role="alert">{{ wrong() }}</p>
      </form>
    } @else if (session.login() === 'present') {
      @for (user of [session.user()]; track user) {
        <app-home />
      }
    }`,
})
class Page {
  readonly session = inject(Session)
  readonly wrong = signal('')

  async submit(event: Event) {
    event.preventDefault()
    this.wrong.set('')
    await logIn(new FormData(event.target as HTMLFormElement)).catch((error: Error) => this.wrong.set(error.message))
  }
}

bootstrapApplication(Page, { providers: [provideZonelessChangeDetection()] }).catch(console.error)

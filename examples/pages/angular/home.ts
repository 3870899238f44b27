import { Component, DestroyRef, inject, signal } from '@angular/core'
import { api, tokens } from '../tokens.ts'

@Component({
  selector: 'app-home',
  template: `<h1>{{ name() }}</h1>
    <button (click)="logOut()">Log out</button>`,
})
export class Home {
  readonly name = signal('')

  constructor() {
    const left = new AbortController()
    inject(DestroyRef).onDestroy(() => left.abort())
    const asked = api.get<{ name: string }>('/me', { signal: left.signal })
    asked.then(
      ({ data }) => this.name.set(data.name),
      (error) => left.signal.aborted || console.warn(error),
    )
  }

  logOut = () => tokens.logout()
}

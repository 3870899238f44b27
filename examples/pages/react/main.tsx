import { StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { api, tokens } from '../tokens.ts'
import { Session } from './session.tsx'

function Home() {
  const [name, setName] = useState('')
  useEffect(() => {
    // In development StrictMode runs each effect twice. The first request is aborted silently.
    const left = new AbortController()
    const asked = api.get<{ name: string }>('/me', { signal: left.signal })
    asked.then(
      ({ data }) => setName(data.name),
      (error) => left.signal.aborted || console.warn(error),
    )
    return () => left.abort()
  }, [])
  return (
    <>
      <h1>{name}</h1>
      <button onClick={() => void tokens.logout()}>Log out</button>
    </>
  )
}

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <Session>
      <Home />
    </Session>
  </StrictMode>,
)

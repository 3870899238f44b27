import { createClient } from '@supabase/supabase-js'
import axios from 'axios'

const supabase = createClient('https://project.example.com', 'publishable-key')

export const api = axios.create({ baseURL: '/api' })
api.interceptors.request.use(async (config) => {
  const { data } = await supabase.auth.getSession()
  config.headers.setAuthorization(`Bearer ${data.session?.access_token}`)
  return config
})
export const logIn = (email: string, password: string) => supabase.auth.signInWithPassword({ email, password })
export const renew = () => supabase.auth.refreshSession()

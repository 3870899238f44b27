import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import { carryOver } from './carry-over.ts'
import { supabaseSource } from './source.ts'

const url = 'https://project.example.com'
const source = supabaseSource(url, 'publishable-key')
export const tokens = createTokenManager({ source, store: webStore({ encryptionKeys: [browserKey()] }) })
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
await carryOver(tokens, url)
followPage(tokens)

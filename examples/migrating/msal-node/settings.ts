import type { Configuration } from '@azure/msal-node'

export const { API = '', CACHE = '', METADATA = '', TOKEN_ENDPOINT = '' } = process.env

// For the test, whose server is not Entra and has no certificate. At Entra: clientId, `authority: 'https://login.microsoftonline.com/TENANT'`.
export const settings: Configuration = {
  auth: {
    clientId: 'my-page',
    authority: 'https://login.example.com',
    knownAuthorities: ['login.example.com'],
    authorityMetadata: METADATA,
  },
  system: { protocolMode: 'OIDC' },
}

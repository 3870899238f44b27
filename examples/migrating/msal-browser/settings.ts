import type { Configuration } from '@azure/msal-browser'

// For the test, whose server is not Entra and has no certificate. At Entra: clientId, `authority: 'https://login.microsoftonline.com/TENANT'`, redirectUri.
export const settings: Configuration = {
  auth: {
    clientId: 'my-page',
    authority: 'https://login.example.com',
    redirectUri: `${location.origin}/callback`,
    knownAuthorities: ['login.example.com'],
    authorityMetadata: 'METADATA', // the test fills it in
  },
  system: { protocolMode: 'OIDC' },
}

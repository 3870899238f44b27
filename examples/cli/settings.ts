/** A tool of yours has these as constants. The addresses of a server of your own may come from the environment. */
export const settings = {
  name: 'my-tool',
  issuer: process.env.MY_TOOL_ISSUER ?? 'https://id.example.com',
  /** A public client (a native application), which has no secret. */
  clientId: process.env.MY_TOOL_CLIENT ?? 'my-tool',
  api: process.env.MY_TOOL_API ?? 'https://api.example.com',
  scope: 'openid offline_access',
}

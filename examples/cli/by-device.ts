import {
  type Configuration,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  type TokenEndpointResponse,
} from 'openid-client'
import { settings } from './settings.ts'

/** For machines without a browser: the user logs in on another device (RFC 8628). */
export async function logInByDevice(server: Configuration): Promise<TokenEndpointResponse> {
  const device = await initiateDeviceAuthorization(server, { scope: settings.scope })
  console.log(`On any device, open ${device.verification_uri} and enter ${device.user_code}`)
  return pollDeviceAuthorizationGrant(server, device)
}

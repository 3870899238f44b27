import type { RenewalSettings } from '../core/renewal-settings.ts'
import type { LoginWatch } from './login-watch.ts'

/** The settings of a manager whose source has a login. */
export interface LoginSettings extends RenewalSettings {
  readonly login: LoginWatch
}

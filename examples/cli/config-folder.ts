import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where the system wants the settings of a program of this user. */
export function configFolder(name: string): string {
  const { LOCALAPPDATA, XDG_CONFIG_HOME = '' } = process.env
  // Not APPDATA: that folder may be on a network drive.
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), name)
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', name)
  return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homedir(), '.config'), name)
}

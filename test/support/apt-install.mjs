import { spawnSync } from 'node:child_process'

/** Installs a Debian package if this process may. The caller must check whether that worked. */
export function aptInstall(name) {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return
  console.log(`\nInstalling ${name} (apt-get) for the tests that need it …`)
  const apt = (...args) =>
    spawnSync('apt-get', [...args], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 240_000 })
  const install = () => apt('install', '-y', '--no-install-recommends', name)
  // The package list may be missing or old.
  if (install().status === 0) return
  apt('update')
  install()
}

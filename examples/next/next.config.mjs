/** @type {import('next').NextConfig} */
export default {
  // Node loads them: a server shares one copy of axios with the package.
  serverExternalPackages: ['axios', 'axios-evergreen', 'redis'],
  // Here the packages are in two folders. A project of yours needs neither line.
  turbopack: { root: new URL('../..', import.meta.url).pathname },
  outputFileTracingRoot: new URL('../..', import.meta.url).pathname,
}

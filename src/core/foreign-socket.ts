/**
 * Detects a polluted `Object.prototype` that would redirect requests. Node also reads the address of a socket from there: its fetch reads `socketPath`,
 * and its HTTP/2 reads `path`. An attacker who can set one of them receives the first requests to an origin, with tokens or credentials.
 *
 * @param adapter An axios adapter. fetch and custom functions, which may call fetch, have no `adapterName`.
 * @returns Why nothing may be sent; undefined if the prototype is clean.
 */
export function foreignSocket(adapter: object = {}, httpVersion?: unknown): string | undefined {
  const name: unknown = Object.hasOwn(adapter, 'adapterName') ? Reflect.get(adapter, 'adapterName') : undefined
  const member = name === 'http' ? Number(httpVersion) === 2 && 'path' : name !== 'xhr' && 'socketPath'
  return member !== false && member in Object.prototype
    ? `Object.prototype.${member} is set, and Node would send everything to that socket. Nothing was sent: find what sets it, such as a merge of JSON`
    : undefined
}

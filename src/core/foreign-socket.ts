/**
 * Node takes the address of a socket from `Object.prototype`, too: its fetch takes `socketPath`, and its HTTP/2 takes `path`. Whoever can put one
 * there gets what is sent to an origin that has no connection yet, with token or credentials.
 *
 * @param adapter An adapter of axios. fetch, and functions of users, which may call fetch, have no name.
 * @returns Why nothing may be sent; undefined if nobody has put one there.
 */
export function foreignSocket(adapter: object = {}, httpVersion?: unknown): string | undefined {
  const name: unknown = Object.hasOwn(adapter, 'adapterName') ? Reflect.get(adapter, 'adapterName') : undefined
  const member = name === 'http' ? Number(httpVersion) === 2 && 'path' : name !== 'xhr' && 'socketPath'
  return member !== false && member in Object.prototype
    ? `Object.prototype.${member} is set, and Node would send everything to that socket. Nothing was sent: find what sets it, such as a merge of JSON`
    : undefined
}

import { builtinModule } from '../core/builtin-module.ts'
import { member } from '../core/thrown.ts'
import { ForeignReply, reasonIn, UNKNOWN_REASON } from '../store/reason.ts'

const RIGHTS = 'grant the user +evalsha +eval +time +type +getrange +set +info, and the keys of the prefix'
const CA = 'pass the CA of the server to the client (option ca of its tls)'

/** Advice by error code, or by the name of a Redis error. */
const ADVICE = {
  BUSY: 'another script blocks the server',
  CLUSTERDOWN: 'the cluster does not serve this slot, check its nodes',
  DEPTH_ZERO_SELF_SIGNED_CERT: CA,
  LOADING: 'the server has just started and is loading its data',
  MISCONF: 'the server cannot save to disk and rejects writes: free disk space, and check the server log',
  MOVED: 'the server is part of a cluster, pass a cluster client',
  NOAUTH: 'the client sent no password, or a wrong one',
  NOPERM: RIGHTS,
  NOREPLICAS: 'the server rejects writes with so few replicas, check them and min-replicas-to-write',
  OOM: 'the server is out of memory, raise maxmemory',
  READONLY: 'the server is a replica, connect to the primary',
  SELF_SIGNED_CERT_IN_CHAIN: CA,
  SUBSCRIBED: 'the client is subscribed to a channel, pass another one',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CA,
  WRONGPASS: 'the server rejected the user or the password',
}

/** Why the connection of each client last failed. */
const troubles = new WeakMap<object, string>()

/** Remembers the connection errors of a client. With `errorMonitor`, nothing changes for other listeners, or if there are none. */
export function watch(client: object): void {
  const { errorMonitor } = (builtinModule('node:events') ?? {}) as { errorMonitor?: symbol }
  const on = member(client, 'on')
  if (errorMonitor === undefined || typeof on !== 'function' || troubles.has(client)) return
  troubles.set(client, UNKNOWN_REASON)
  on.call(client, errorMonitor, (error: unknown) => troubles.set(client, reasonIn(error, ADVICE, nameIn)))
}

/** @returns Why a command failed or had no response, without secrets. */
export function reasonOf(thrown: unknown, client?: object): string {
  if (thrown instanceof ForeignReply) return 'the client must return the reply of Redis unchanged'
  const lacking = /'([\w|]{1,40})' command/.exec(messageOf(thrown))?.[1]
  const reason = reasonIn(thrown, ADVICE, nameIn).replace(/^NOPERM(?=:)/, lacking ? `$& '${lacking}'` : '$&')
  const state = client && stateOf(client)
  if (!state) return reason
  return reason === UNKNOWN_REASON ? state : `${reason}; ${state}`
}

/** @returns The name of a Redis error, alone or within the error of a script: NOAUTH, READONLY, OOM, LOADING. */
function nameIn(message: string): string | undefined {
  // The first form is Valkey 8's, the second Redis 7.0's.
  if (/ACL failure in script|The user executing the script can't run/.test(message)) return 'NOPERM'
  // The first form is Redis's, the second ioredis 5's.
  if (/\(P\|S\)SUBSCRIBE|subscriber mode/.test(message)) return 'SUBSCRIBED'
  return /(?:^-?|: -)([A-Z]{2,}) /.exec(message)?.[1]
}

/** @returns Why a client of node-redis (`isOpen`, `isReady`) or ioredis (`status`) cannot respond; undefined if the client is ready. */
function stateOf(client: object): string | undefined {
  const status = member(client, 'status') ?? 'ready'
  if (member(client, 'isOpen') === false || status === 'end')
    return 'the client is not connected, call its connect(), and close the client after the manager'
  if (member(client, 'isReady') !== false && status === 'ready') return undefined
  const why = troubles.get(client) ?? UNKNOWN_REASON
  return why === UNKNOWN_REASON ? 'the client has no connection' : `the client has no connection (${why})`
}

export function messageOf(thrown: unknown): string {
  const message = member(thrown, 'message')
  return typeof message === 'string' ? message : ''
}

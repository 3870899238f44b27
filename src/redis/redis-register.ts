import { ForeignReply } from '../store/reason.ts'
import type { TokenRegister } from '../store/token-register.ts'
import { CHANNEL, type RedisSubscriber, subscription } from './subscription.ts'
import { commandOf, type RedisClient, Script } from './command.ts'

/** The longest possible record. Of a longer value, the script reads only enough to recognise that it is not a record. */
const MAX_BYTES = 262_144
/** The maximum number of keys whose epochs are kept. */
const MOST_EPOCHS = 10_000

/**
 * Reads or replaces the record KEYS[1]. The epoch is `run_id:master_replid`, or '' where INFO is not permitted. A restart changes the first part, a failover
 * both, and a failback the second. INFO is expensive, so a read runs it only if necessary. A replace compares only the second part: a server that starts has
 * a new one as well, unless it is a replica, which rejects writes.
 *
 * To read: ARGV[1] is present if the epoch is known. Returns the value, or false if there is none; the two numbers of TIME; and unless the epoch is known,
 * the epoch and the uptime in seconds, or '' if the server was ever promoted. A value that is not a string is returned as '', which counts as no record.
 *
 * To replace: ARGV: the new value; ms to keep it; the epoch, or '' to skip its comparison; the expected value, absent if none is expected. Returns 1 if the
 * script stored the new value, -1 if the epoch differs, otherwise 0. If the key holds anything but a record, such as bytes beyond ASCII, the expected value is
 * ''.
 */
const TEXT = `
local key = KEYS[1]
local stands = redis.pcall('GETRANGE', key, 0, ${MAX_BYTES})
if type(stands) == 'table' then
  if not string.find(stands.err, 'WRONGTYPE', 1, true) then return stands end
  stands = ''
elseif stands == '' and redis.call('TYPE', key).ok == 'none' then stands = false end
local time = #ARGV < 2 and redis.call('TIME')
if #ARGV == 1 then return { stands, time[1], time[2] } end
local function asked(section, first, second)
  local answer = redis.pcall('INFO', section)
  if type(answer) ~= 'string' then return false end
  return string.match(answer, first .. ':(%w+)'), second and string.match(answer, second .. ':(%w+)')
end
if #ARGV == 0 then
  local run, uptime = asked('server', 'run_id', 'uptime_in_seconds')
  local replid, before = asked('replication', 'master_replid', 'master_replid2')
  local epoch = run and replid and run .. ':' .. replid or ''
  return { stands, time[1], time[2], epoch, uptime and before and string.match(before, '^0+$') and uptime or '' }
end
if ARGV[3] ~= '' and string.match(ARGV[3], ':(.*)') ~= (asked('replication', 'master_replid')) then return -1 end
local expected = ARGV[4]
local isOdd = expected == '' and stands and string.find(stands, '[\\128-\\255]')
if stands ~= (expected or false) and not isOdd then return 0 end
redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
return 1
`
const SCRIPT = new Script(TEXT)
/** Also publishes the key. A restricted user needs further permissions for this. */
const PUBLISHING = new Script(TEXT.replace(/return 1\n$/, `redis.call('PUBLISH', '${CHANNEL}', key)\n$&`))

/** A register in Redis or Valkey: one string per key. One script compares and sets; the rules of the store are not in it. */
export function redisRegister(client: RedisClient, subscriber?: RedisSubscriber): TokenRegister {
  const command = commandOf(client)
  const replacing = subscriber ? PUBLISHING : SCRIPT
  /** The epochs, by key, because each node of a cluster has its own. An outdated epoch is harmless, because the script compares it before it stores. */
  const epochs = new Map<string, { readonly epoch: string; readonly epochAt: number | undefined }>()
  /** Keys that this register has written and not read since. Their next replace completes a lease. */
  const leased = new Set<string>()
  return {
    kind: 'redis',
    ...(subscriber && subscription(subscriber)),
    async read(key) {
      const known = epochs.get(key)
      const reply = await SCRIPT.run(client, command, key, known === undefined ? [] : ['known'])
      const [value, seconds, micros, serverEpoch, uptime] = Array.isArray(reply) ? reply.map(text) : []
      const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
      const { epoch, epochAt } = known ?? {
        epoch: serverEpoch,
        epochAt: uptime ? now - Number(uptime) * 1_000 : undefined,
      }
      leased.delete(key)
      if (epochs.size >= MOST_EPOCHS) epochs.clear()
      if (epoch) epochs.set(key, { epoch, epochAt })
      // Clients decode bytes that are not UTF-8 as different text, which no process could pass as the expected one.
      return { now, epoch: epoch === '' ? null : epoch, epochAt, value: String(value).includes('\ufffd') ? '' : value }
    },
    async replace(key, expected, value, keepMs, epoch = '') {
      // Only a lease grants a refresh token, so only the lease needs the comparison. The step that completes the lease stores the lease's epoch: in another epoch,
      // the token is not presented.
      const isSettling = leased.delete(key)
      const args = [value, String(Math.ceil(keepMs)), isSettling ? '' : epoch]
      const stored = text(
        await replacing.run(client, command, key, expected === undefined ? args : [...args, expected]),
      )
      if (stored === '-1') epochs.delete(key)
      if (stored === '1' && !isSettling) leased.add(key)
      if (!['1', '0', '-1'].includes(stored ?? '')) throw new ForeignReply()
      return stored === '1'
    },
  }
}

/** Normalises a reply. Some clients return bytes, and undefined for null. Others parse text that looks like JSON: the store reports what is not text. */
function text(reply: unknown): string | undefined {
  if (ArrayBuffer.isView(reply)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(reply as Uint8Array)
  return typeof reply === 'number' || typeof reply === 'bigint' ? String(reply) : ((reply ?? undefined) as string)
}

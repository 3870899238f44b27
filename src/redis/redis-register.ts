import { ForeignAnswer } from '../store/reason.ts'
import type { RegisterReading, TokenRegister } from '../store/token-register.ts'
import { commandOf, type RedisClient, Script } from './command.ts'

/** Longer values are no record of ours: what stands there is read as far as it tells that. */
const MAX_BYTES = 262_144

/**
 * KEYS: the record. Answers: the value, or false; the time of this server; its run_id, which a restart changes, or '' where INFO is not permitted.
 * A value that is no string is told as an empty one, so that it counts as what it is: no record.
 */
const READ = new Script(`
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kind = redis.call('TYPE', key).ok
local value = false
if kind == 'string' then value = redis.call('GETRANGE', key, 0, ${MAX_BYTES}) elseif kind ~= 'none' then value = '' end
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
return { value, string.format('%.0f', now), run }
`)

/**
 * KEYS: the record. ARGV: the value, ms to keep it or '' for ever, the value that is expected to stand there if any does. Answers 1 if it was put
 * there.
 */
const REPLACE = new Script(`
local key, expected = KEYS[1], ARGV[3]
local kind = redis.call('TYPE', key).ok
local stands = kind == 'string' and redis.call('GETRANGE', key, 0, ${MAX_BYTES}) or kind ~= 'none' and ''
if stands ~= (expected or false) then return 0 end
if ARGV[2] == '' then redis.call('SET', key, ARGV[1]) else redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return 1
`)

/** A string of Redis or Valkey. The compare and the set are one script, and no rule is in it. */
export function redisRegister(client: RedisClient): TokenRegister {
  const command = commandOf(client)
  return {
    kind: 'redis',
    async read(key): Promise<RegisterReading> {
      const reply = await READ.run(command, key, [])
      if (!Array.isArray(reply)) throw new ForeignAnswer('the client must answer with the reply of Redis')
      const [value, now, run] = reply as unknown[]
      return {
        now: Number(text(now)),
        ...(value !== null && { value: text(value) }),
        ...(text(run) !== '' && { epoch: text(run) }),
      }
    },
    async replace(key, expected, value, keepMs) {
      const kept = keepMs === Infinity ? '' : String(Math.ceil(keepMs))
      const args = expected === undefined ? [value, kept] : [value, kept, expected]
      return Number(await REPLACE.run(command, key, args)) === 1
    },
  }
}

/** Clients may hand out buffers. */
const text = (reply: unknown) => String(reply)

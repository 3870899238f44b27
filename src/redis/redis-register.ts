import { ForeignAnswer } from '../store/reason.ts'
import type { RegisterReading, TokenRegister } from '../store/token-register.ts'
import { commandOf, type RedisClient, Script } from './command.ts'

/** No record is longer. Of a longer value, READ returns only enough to tell that it is no record. */
const MAX_BYTES = 262_144

/**
 * KEYS: the record. Answers: the value, or false if there is none; the time of this server, epoch ms; its run_id, which a restart changes,
 * or '' where INFO is not permitted. For a value that is no string the script answers '', which counts as no record.
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
 * KEYS: the record. ARGV: the new value; ms to keep it; the expected value, absent if none is expected. Answers 1 if the script stored the new
 * value, else 0. '' is expected of whatever is no record, bytes beyond ASCII included.
 */
const REPLACE = new Script(`
local key, expected = KEYS[1], ARGV[3]
local kind = redis.call('TYPE', key).ok
local stands = kind == 'string' and redis.call('GETRANGE', key, 0, ${MAX_BYTES}) or kind ~= 'none' and ''
local isOdd = expected == '' and stands and string.find(stands, '[\\128-\\255]')
if stands ~= (expected or false) and not isOdd then return 0 end
redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
return 1
`)

/** A register in Redis or Valkey: one string per key. One script compares and sets; the rules of the store are not in it. */
export function redisRegister(client: RedisClient): TokenRegister {
  const command = commandOf(client)
  return {
    kind: 'redis',
    async read(key): Promise<RegisterReading> {
      const reply = await READ.run(command, key, [])
      if (!Array.isArray(reply)) throw foreign()
      const [value, time, run] = reply as unknown[]
      const now = Number(text(time))
      if (Number.isNaN(now)) throw foreign()
      return {
        now,
        // Some clients answer undefined for null.
        ...((value ?? undefined) !== undefined && { value: readable(text(value)) }),
        ...(text(run) !== '' && { epoch: text(run) }),
      }
    },
    async replace(key, expected, value, keepMs) {
      const kept = String(Math.ceil(keepMs))
      const args = expected === undefined ? [value, kept] : [value, kept, expected]
      const stored = text(await REPLACE.run(command, key, args))
      if (stored !== '1' && stored !== '0') throw foreign()
      return stored === '1'
    },
  }
}

/** Clients read bytes that are no UTF-8 as another text, which no process could name as the one that it expects. */
const readable = (value: string) => (value.includes('\ufffd') ? '' : value)

/** Some clients answer with bytes. Others parse a text that looks like JSON. */
function text(reply: unknown): string {
  if (ArrayBuffer.isView(reply)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(reply as Uint8Array)
  if (typeof reply === 'string') return reply
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply)
  throw foreign()
}

const foreign = () => new ForeignAnswer('the client must answer with the reply of Redis, unchanged')

/** Raised when the stored document changes its shape: older processes then leave it alone. */
export const SCHEMA = 1

/**
 * What both scripts share. The record is one JSON document under one key; whatever stands there that is no such document
 * counts as absent, and the next write replaces it. Each script ends in at most one write, so it has happened or it has not.
 */
const RECORD = `
local SCHEMA, MAX_BYTES, DAY = ${SCHEMA}, 262144, 86400000
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local flaw

local function empty()
  return { schema = SCHEMA, version = 0, fence = 0, presentations = 0, retired = false }
end

local function load()
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then return empty() end
  if kind == 'string' and redis.call('STRLEN', key) <= MAX_BYTES then
    local ok, state = pcall(cjson.decode, redis.call('GET', key))
    if ok and type(state) == 'table' and type(state.schema) == 'number' then
      return state.schema < SCHEMA and empty() or state
    end
  end
  flaw = 'what stood there is no token record'
  return empty()
end

-- The record outlives whatever it must remember by a day: a retired refresh token, a claim, a cool-down.
local function save(state)
  local last, tokens, claim, cool = now, state.tokens, state.claim, state.cool
  if tokens then last = math.max(tokens.accessEnd, tokens.refreshEnd or now + 30 * DAY) end
  if claim then last = math.max(last, claim.ends) end
  if cool then last = math.max(last, cool.ends) end
  if cool and cool.ends < 0 then redis.call('SET', key, cjson.encode(state))
  else redis.call('SET', key, cjson.encode(state), 'PX', string.format('%.0f', math.max(last - now, 0) + DAY)) end
end

local function view(state)
  local tokens = state.tokens
  if not tokens then return nil end
  return {
    version = state.version, pid = tokens.pid, kid = tokens.kid, box = tokens.box,
    accessRemainingMs = tokens.accessEnd - now,
    refreshRemainingMs = tokens.refreshEnd and tokens.refreshEnd - now
  }
end

local function run(main)
  local state = load()
  if state.schema > SCHEMA then return cjson.encode({ kind = 'foreign', flaw = 'it is of a newer release' }) end
  local ok, answer = pcall(main, state)
  if not ok then
    -- Members of wrong types. Where the fault is not the record's, this fails again.
    flaw = 'what stood there is no token record'
    answer = main(empty())
  end
  answer.flaw = answer.flaw or flaw
  return cjson.encode(answer)
end
`

/** KEYS: the record. ARGV: owner, seen version, ttl ms, the ids of the keys that open what is stored, as JSON. */
export const CLAIM = `${RECORD}
local owner, seen, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local opens = {}
for _, id in ipairs(cjson.decode(ARGV[4])) do opens[id] = true end

return run(function (state)
  if state.tokens and not opens[state.tokens.kid] then
    if state.tokens.kid ~= '' then return { kind = 'foreign', flaw = 'it is sealed with a key that is not known here' } end
    -- Anybody could have written it.
    state.tokens, flaw = nil, 'what stood there is not sealed'
  end
  if state.tokens and state.version > seen then return { kind = 'newer', tokens = view(state) } end
  local cool, claim = state.cool, state.claim
  if cool and cool.ends < 0 then return { kind = 'cooling', coolDown = cool.what } end
  if cool and cool.ends > now then return { kind = 'cooling', remainingMs = cool.ends - now, coolDown = cool.what } end
  if claim then
    if claim.ends > now and claim.owner ~= owner then return { kind = 'busy', remainingMs = claim.ends - now } end
    -- Its owner stalled, or could not say how it ended: the refresh token may have been presented.
    if not claim.settled then state.retired = true end
  end
  -- An older pair than this owner has seen is a store restored from a copy: what it holds has been spent.
  if state.version < seen then state.tokens = nil end
  state.version = math.max(state.version, seen)
  state.fence = state.fence + 1
  state.claim = { owner = owner, fence = state.fence, ends = now + ttl, settled = false }
  save(state)
  return {
    kind = 'granted', fence = state.fence, version = state.version, now = now, retired = state.retired,
    presentations = state.presentations, failures = cool and cool.failures or 0, tokens = view(state)
  }
end)
`

/**
 * KEYS: the record. ARGV: owner, fence, version of the claim, then
 * `accept`, pid, key id, sealed tokens, end of the access token by the clock of Redis, that of the refresh token or '' ·
 * `release`, fate, ms to the next attempt or '', ms of the cool-down (-1: endless) or '', failures, the cool-down as JSON ·
 * `clear`.
 */
export const SETTLE = `${RECORD}
local owner, fence, version, how = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local function accept(state, mine)
  if mine then state.claim = nil end
  -- A pair that we were given is stored even by an owner that came late, unless a newer one came, or 'clear', since.
  if state.version <= version then
    state.version = version + 1
    state.tokens = {
      pid = ARGV[5], kid = ARGV[6], box = ARGV[7], accessEnd = tonumber(ARGV[8]), refreshEnd = tonumber(ARGV[9])
    }
    state.presentations, state.retired, state.cool = 0, false, nil
  end
end

local function release(state, mine)
  if not mine then return end
  local fate, retryMs, coolMs = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
  if fate == 'counted' and not state.claim.settled then state.presentations = state.presentations + 1 end
  if fate == 'doubtful' or fate == 'dead' then state.retired = true end
  if retryMs then state.claim.ends, state.claim.settled = now + retryMs, true
  else state.claim = nil end
  if coolMs then
    if coolMs < 0 then state.tokens = nil end
    state.cool = { ends = coolMs < 0 and -1 or now + coolMs, failures = tonumber(ARGV[8]), what = ARGV[9] }
  end
end

return run(function (state)
  local contested = state.fence ~= fence
  local mine = state.claim and state.claim.fence == fence and state.claim.owner == owner
  if how == 'accept' then accept(state, mine)
  elseif how == 'release' then release(state, mine)
  else
    state.version = math.max(state.version, version) + 1
    state.tokens, state.claim, state.cool = nil, nil, nil
    state.presentations, state.retired = 0, false
  end
  save(state)
  return { contested = contested, tokens = (how == 'accept' or state.version > version) and view(state) or nil }
end)
`

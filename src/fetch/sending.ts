import { hidesRefusal } from '../client/bodies.ts'
import { cureOf } from '../client/challenges.ts'
import {
  type Grantee,
  isStillOf,
  loginAtSending,
  maySeeRedirects,
  NEW_TOKENS_REFUSED,
  type Sequel,
  sequelOf,
} from '../client/client-port.ts'
import { promised } from '../client/promised.ts'
import type { Prover } from '../client/prover.ts'
import type { TokenAccess } from '../client/token-access.ts'
import { isTokenError, toldTo } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import {
  copyOf,
  hasHeader,
  headersWith,
  type Init,
  type Input,
  isRepeatable,
  memberOfCall,
  requestIn,
  spareOf,
  urlOf,
} from './call.ts'

/** One request of a caller, and the login in which it began. */
export interface Errand {
  readonly fetch: (input: Input, init?: Init) => Promise<Response>
  readonly grantee: Grantee<Response>
  readonly origin: string
  readonly begun: number | undefined
  readonly input: Input
  readonly init: Init | undefined
  readonly signal: AbortSignal | undefined
  /** How long it has waited for tokens: one budget for the first token and for that of the replay. */
  spentMs: number
}

/** One sending of a request. */
interface Sending {
  readonly errand: Errand
  readonly token: string
  /** The login to which the request belongs since its first sending. */
  readonly login: number | undefined
  readonly isReplay: boolean
  /** Whether this token has had a second proof. */
  readonly isProvenAgain: boolean
  /** What a replay sends; undefined if the request must not be sent again. */
  readonly spare: Input | undefined
}

/** Calls fetch synchronously if a token is at hand: a page that unloads waits for nothing. */
export function sendWithToken(errand: Errand): Promise<Response> {
  const { grantee, begun } = errand
  const token = grantee.access.peek()
  const login = loginAtSending(grantee, begun)
  if (token !== undefined) return send(firstOf(errand, token, login), errand.input)
  return sendAfterWait(errand)
}

async function sendAfterWait(errand: Errand): Promise<Response> {
  const { access } = errand.grantee
  const token = await waited(errand, (waiting) => access.get(waiting))
  // Waits again if the process stalled until the token had expired.
  if (access.hasEnded(token)) return sendAfterWait(errand)
  return send(firstOf(errand, token, loginAtSending(errand.grantee, errand.begun)), errand.input)
}

function firstOf(errand: Errand, token: string, login: number | undefined): Sending {
  const { input, init } = errand
  const spare = isRepeatable(input, init) ? spareOf(input, init) : undefined
  return { errand, token, login, isReplay: false, isProvenAgain: false, spare }
}

type Waiting = Parameters<TokenAccess['get']>[0]

/** @throws `signal.reason` when the caller gives up; an error of this caller's own when no token can be had. */
async function waited(errand: Errand, ask: (waiting: Waiting) => Promise<string> | string): Promise<string> {
  const { clock, maxWaitMs } = errand.grantee.access
  const startedAt = clock.monotonicNow()
  try {
    return await ask({ signal: errand.signal, maxWaitMs: Math.max(0, maxWaitMs - errand.spentMs) })
  } catch (error) {
    throw isTokenError(error) ? toldTo(waited, error) : error
  } finally {
    errand.spentMs += clock.monotonicNow() - startedAt
  }
}

/** Not an async function, so that fetch is called before it returns. */
function send(sending: Sending, input: Input): Promise<Response> {
  const { errand, token, login } = sending
  const { prover } = errand.grantee
  if (!prover) return sendDressed(sending, input)
  return waited(errand, (waiting) => prover.prove({ ...placeOf(errand), token }, waiting)).then((proof) => {
    loginAtSending(errand.grantee, login) // the login may have ended while the key signed
    return sendDressed(sending, input, proof)
  })
}

/** What a proof names of a request. */
function placeOf({ input, init }: Errand): { method: string; url: string } {
  return { method: memberOfCall(input, init, 'method') ?? 'GET', url: urlOf(input)?.href ?? '' }
}

function sendDressed(sending: Sending, input: Input, proof?: string): Promise<Response> {
  const { errand, token, login } = sending
  const { fetch, grantee } = errand
  const init = dressed(sending, input, proof)
  return promised(() => fetch(input, init)).then(
    (response) => answered(sending, response),
    (error: unknown) => {
      if (hidesRefusal(error) && isStillOf(grantee, login)) grantee.access.replaceBehind(token)
      throw error
    },
  )
}

/** @returns `init` with all its members, and with the token. The caller's object stays as it is. */
function dressed({ errand, token }: Sending, input: Input, proof: string | undefined): Init {
  const { grantee, init } = errand
  const copy = copyOf(init)
  copy.headers = headersWith(input, init, grantee.header, grantee.text(token))
  if (proof !== undefined && !hasHeader(input, copy, 'dpop')) copy.headers = headersWith(input, copy, 'DPoP', proof)
  // Only `Authorization` is taken off a request that is redirected to another origin.
  if (!maySeeRedirects(grantee) && memberOfCall(input, init, 'redirect') !== 'error') copy.redirect = 'manual'
  return copy
}

function answered(sending: Sending, response: Response): Response | Promise<Response> {
  const { grantee } = sending.errand
  if (grantee.prover) hear(grantee.prover, sending.errand, response)
  if (grantee.refuses(response)) return follow(sending, sequelTo(sending, response), response)
  letGo(sending.spare, sending.errand.input)
  return response
}

function hear(prover: Prover, errand: Errand, { status, headers }: Response): void {
  const [nonce, date, age] = ['dpop-nonce', 'date', 'age'].map((name) => headers.get(name))
  prover.hear(placeOf(errand), { status, nonce, date, age })
}

function sequelTo({ errand, login, isReplay, isProvenAgain, spare }: Sending, response: Response): Sequel {
  const { grantee, origin, input, init } = errand
  const isSafe = /^(get|head)$/i.test(memberOfCall(input, init, 'method') ?? 'get')
  return sequelOf({
    cure: cureOf((response.headers as Headers | undefined)?.get('www-authenticate')),
    isOfOtherOrigin: response.redirected && parsedUrl(response.url)?.origin !== origin,
    isOfThisLogin: isStillOf(grantee, login),
    // A redirect may have turned a POST into a GET: then the API has acted on the POST.
    isRepeatable: spare !== undefined && (isSafe || !response.redirected),
    isReplay,
    mayProveAgain: grantee.prover !== undefined && !isProvenAgain,
  })
}

function follow(sending: Sending, sequel: Sequel, response: Response): Response | Promise<Response> {
  const { errand, token, spare } = sending
  const { access } = errand.grantee
  switch (sequel) {
    case 'replay':
      return replay(sending, response)
    case 'prove-again':
      return sendAgain({ ...sending, isProvenAgain: true }, response)
    case 'surface-again':
      access.anomaly('new-tokens-refused', NEW_TOKENS_REFUSED)
      break
    case 'replace-behind':
      // This request must not be sent again. Later requests get another token.
      access.replaceBehind(token)
      break
    case 'surface':
  }
  letGo(spare, errand.input)
  return response
}

async function replay(sending: Sending, response: Response): Promise<Response> {
  const { errand, token, login } = sending
  const { access } = errand.grantee
  let next: string
  try {
    next = await waited(errand, (waiting) => access.replace(token, waiting))
  } catch {
    if (errand.signal?.aborted) throw errand.signal.reason
    return follow(sending, 'surface', response) // without another token the API's own answer tells the caller most
  }
  if (!isStillOf(errand.grantee, login)) return follow(sending, 'surface', response)
  if (next === token) return follow(sending, 'surface-again', response)
  return sendAgain({ ...sending, token: next, isReplay: true, isProvenAgain: false }, response)
}

function sendAgain(sending: Sending, response: Response): Promise<Response> {
  const { errand, spare = errand.input, isReplay } = sending
  discard(response.body)
  // After a new proof another token may still follow; after a replay, only a new proof.
  const mayFollow = !isReplay || errand.grantee.prover !== undefined
  return send({ ...sending, spare: mayFollow ? spareOf(spare, errand.init) : spare }, spare)
}

/** The copy of a Request shares its body with the one that was sent, and would keep all of it. */
function letGo(spare: Input | undefined, sent: Input): void {
  if (spare !== sent) discard(requestIn(spare)?.body)
}

/** An unread body would hold its socket. Some implementations of fetch have streams of Node. */
function discard(body: unknown): void {
  const stream = (body ?? {}) as { cancel?: () => Promise<void>; destroy?: () => void }
  if (stream.cancel) void stream.cancel().catch(() => undefined)
  else stream.destroy?.()
}

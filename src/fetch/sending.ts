import { type Grantee, markAtSending, maySeeRedirects } from '../client/client-port.ts'
import { promised } from '../client/promised.ts'
import type { Prover } from '../client/prover.ts'
import { type Errand, follow, heedFailure, proofOf } from '../client/sequel.ts'
import type { WaitLimits } from '../client/token-access.ts'
import { reasonOf } from '../core/deadline.ts'
import { copyForCaller, isTokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { hasHeader, type Init, type Input, memberOfCall } from './call.ts'
import { type Call, copyOfInit, discard, isRepeatable, ownInput, setHeader, spareOf } from './own-call.ts'

/** One request of a caller. */
interface Sending extends Errand<Response>, Call {
  readonly fetch: (input: Input, init?: Init) => Promise<Response>
  readonly origin: string
  /** What is sent: the caller's own only if it leaves before the call returns. */
  input: Input
  init: Call['init']
  /** Undefined if the request has a proof of its own. */
  readonly prover: Prover | undefined
  readonly signal: AbortSignal | undefined
  /** How long it has waited: one budget for the first token, for that of the replay, and for proofs. */
  spentMs: number
  /** What a replay sends; undefined if the request must not be sent again. */
  spare: Input | undefined
}

/** Calls fetch synchronously if a token is at hand: a page that unloads waits for nothing. */
export function sendWithToken(
  fetch: Sending['fetch'],
  grantee: Grantee<Response>,
  origin: string,
  call: Call,
): Promise<Response> {
  const { access } = grantee
  const begun = access.markNow?.()
  const token = access.peek()
  const { input, url, init } = call
  const prover = grantee.prover && hasHeader(input, init, 'dpop') ? undefined : grantee.prover
  const sending: Sending = {
    fetch,
    grantee,
    origin,
    begun,
    input: token === undefined || prover ? ownInput(call) : input,
    url,
    init,
    prover,
    signal: memberOfCall(input, init, 'signal') ?? undefined,
    spentMs: 0,
    token: token ?? '',
    mark: markAtSending(grantee, begun),
    isReplay: false,
    isProvenAgain: false,
    spare: undefined,
  }
  return token === undefined ? sendAfterWait(sending) : sendFirst(sending)
}

async function sendAfterWait(sending: Sending): Promise<Response> {
  const { grantee, begun } = sending
  const token = await waited(sending, (limits) => grantee.access.get(limits))
  // Waits again if the process stalled until the token had expired.
  if (grantee.access.hasEnded(token)) return sendAfterWait(sending)
  sending.mark = markAtSending(grantee, begun)
  sending.token = token
  return sendFirst(sending)
}

function sendFirst(sending: Sending): Promise<Response> {
  if (isRepeatable(sending)) sending.spare ??= spareOf(sending)
  return send(sending)
}

/** @throws `signal.reason` when the caller gives up; an error of this caller's own when no token can be had. */
async function waited(sending: Sending, ask: (limits: WaitLimits) => Promise<string> | string): Promise<string> {
  const { clock, maxWaitMs } = sending.grantee.access
  const startedAt = clock.monotonicNow()
  try {
    return await ask({ signal: sending.signal, maxWaitMs: Math.max(0, maxWaitMs - sending.spentMs) })
  } catch (error) {
    throw isTokenError(error) ? copyForCaller(waited, error) : error
  } finally {
    sending.spentMs += clock.monotonicNow() - startedAt
  }
}

/** Not an async function, so that fetch is called before it returns. */
function send(sending: Sending): Promise<Response> {
  const { prover } = sending
  const { access } = sending.grantee
  if (!prover) return sendDressed(sending)
  return waited(sending, (limits) => proofOf(sending, prover, placeOf(sending), limits)).then((proof) =>
    // The key may need longer than the token lives.
    access.hasEnded(sending.token) ? sendAfterWait(sending) : sendDressed(sending, proof),
  )
}

/** What a proof names of a request. */
function placeOf({ input, init, url }: Call): { method: string; url: string } {
  return { method: memberOfCall(input, init, 'method') ?? 'GET', url }
}

function sendDressed(sending: Sending, proof?: string): Promise<Response> {
  const { fetch, input } = sending
  const init = dress(sending, proof)
  return promised(() => fetch(input, init)).then(
    (response) => answered(sending, response),
    (error: unknown) => {
      heedFailure(sending, error)
      throw error
    },
  )
}

/** Puts the token on the copy that is sent. */
function dress(sending: Sending, proof: string | undefined): Init {
  const { grantee, token, input, init } = sending
  setHeader(sending, grantee.header, grantee.text(token))
  if (proof !== undefined) setHeader(sending, 'DPoP', proof)
  // Only `Authorization` is taken off a request that is redirected to another origin.
  if (!maySeeRedirects(grantee) && memberOfCall(input, init, 'redirect') !== 'error') init.redirect = 'manual'
  return init
}

function answered(sending: Sending, response: Response): Response | Promise<Response> {
  const { grantee, origin, spare, signal } = sending
  const { headers, redirected, status } = response
  grantee.prover?.hear(placeOf(sending), status, (name) => headers.get(name))
  // The answer of another origin says nothing about the token.
  const hasLeft = redirected && parsedUrl(response.url)?.origin !== origin
  if (hasLeft || !grantee.refuses(response)) return settled(sending, response)
  return follow(sending, {
    challenge: (headers as Headers | undefined)?.get('www-authenticate'),
    // A redirect may have turned a POST into a GET: then the API has acted on the POST.
    isRepeatable: spare !== undefined && (!redirected || /^(get|head)$/i.test(placeOf(sending).method)),
    replace: () =>
      waited(sending, (limits) => grantee.access.replace(sending.token, limits)).catch(() => {
        if (signal?.aborted) throw reasonOf(signal)
        return undefined
      }),
    sendAgain() {
      discard(response.body)
      return sendSpare(sending)
    },
    surface: () => settled(sending, response),
  })
}

function sendSpare(sending: Sending): Promise<Response> {
  const { spare = sending.input, grantee, isReplay } = sending
  sending.input = spare
  sending.init = copyOfInit(sending.init)
  // After a new proof another token may still follow; after a replay, only a new proof.
  if (!isReplay || grantee.prover) sending.spare = spareOf(sending)
  return send(sending)
}

/** Gives the answer to the caller. The copy of a Request shares its body with the one that was sent, and would keep all of it. */
function settled({ spare, input }: Sending, response: Response): Response {
  if (typeof spare === 'object' && spare !== input) discard(spare.body)
  return response
}

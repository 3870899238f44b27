import axios from 'axios'
import { attachBearer, isTokenError } from 'axios-evergreen'
import { nextMoment } from './account.mjs'

/** More than all waits and timeouts of a request together: such a request counts as endless. */
const ENDLESS_MS = 15_000

/**
 * One user of the library: an axios instance with the tokens of two accounts attached. It sends requests to either account,
 * and sometimes gives one up.
 */
export class Caller {
  /** Requests on their way, by number. */
  onTheWay = new Map()
  #accounts
  #attachments = new Map()
  #dice
  #tally
  #api
  #count = 0

  constructor(accounts, adapter, tally, dice) {
    this.#accounts = accounts
    this.#tally = tally
    this.#dice = dice
    this.#api = axios.create({
      baseURL: accounts[0].origin,
      adapter: this.#watched(adapter),
      timeout: 2_000,
      responseType: 'json',
      transitional: { silentJSONParsing: false },
    })
    for (const account of accounts) this.attach(account)
  }

  /** Attaches an account; again when the account has a new manager. */
  attach(account) {
    if (!this.#accounts.includes(account)) return
    this.#attachments.get(account)?.detach()
    this.#attachments.set(account, attachBearer(this.#api, account.tokens, { origins: [account.origin] }))
  }

  async request() {
    const dice = this.#dice
    const account = this.#accounts[dice.happens(0.7) ? 0 : 1]
    const number = String((this.#count += 1))
    const body = dice.happens(0.5) ? { amount: number } : undefined
    const config = {
      method: body ? 'post' : 'get',
      url: `${account.origin}/payments/${number}`,
      headers: { 'x-request-number': number },
      ...(body && { data: body }),
    }
    const asked = { account, began: nextMoment(), since: performance.now(), sent: [] }
    this.onTheWay.set(number, asked)
    const giveUp = this.#maybeGivesUp(config)
    try {
      const { data } = await this.#api.request(config)
      this.#tell(account, 'served')
      const expected = body ? JSON.stringify(body) : ''
      if (data.headers['x-request-number'] !== number || data.body !== expected)
        this.#tally.breach('mixedUp', `${account.name}: ${data.path}`)
    } catch (error) {
      this.#failed(account, error, giveUp)
    } finally {
      giveUp.cancel()
      this.onTheWay.delete(number)
    }
  }

  checkEndless() {
    for (const { account, since } of this.onTheWay.values())
      if (performance.now() - since > ENDLESS_MS) this.#tally.breach('endless', account.name)
  }

  /** Aborts some requests, by either way of axios, and gives some requests little time. */
  #maybeGivesUp(config) {
    const dice = this.#dice
    const giveUp = { given: false, cancel: () => undefined }
    if (dice.happens(0.05)) config.timeout = dice.whole(5, 500)
    if (dice.happens(0.93)) return giveUp
    const controller = new AbortController()
    const cancelled = axios.CancelToken.source()
    const isNew = dice.happens(0.7)
    Object.assign(config, isNew ? { signal: controller.signal } : { cancelToken: cancelled.token })
    const timer = setTimeout(
      () => {
        giveUp.given = true
        if (isNew) controller.abort()
        else cancelled.cancel()
      },
      dice.between(0, 300),
    )
    giveUp.cancel = () => clearTimeout(timer)
    return giveUp
  }

  #failed(account, error, giveUp) {
    if (axios.isCancel(error) && giveUp.given) this.#tell(account, 'given up by the caller')
    else if (isTokenError(error)) this.#tell(account, `no token: ${error.code}`)
    else if (error?.isAxiosError && !axios.isCancel(error)) this.#tell(account, toldBy(error))
    else this.#tally.breach('stranger', `${account.name}: ${error?.stack ?? error}`)
  }

  #tell(account, ending) {
    this.#tally.add(account.variant, 'requests', ending)
  }

  /** An adapter that checks each request below everything that the library does. */
  #watched(name) {
    return async (config) => {
      const asked = this.onTheWay.get(config.headers.get('x-request-number'))
      const token = config.headers.get('Authorization')
      const { account } = asked
      const hasExpired = account.check(token, asked.began)
      asked.sent.push(token)
      if (asked.sent.length > 2 || asked.sent[0] === asked.sent[1]) this.#tally.breach('thrice', account.name)
      try {
        const response = await axios.getAdapter(name, config)(config)
        if (hasExpired) this.#tally.breach('expired', account.name)
        return response
      } catch (error) {
        const what = hasExpired ? 'the token had expired when it was sent' : 'the token was refused before its time'
        if (error?.response?.status === 401) this.#tally.add(account.variant, '401s', what)
        throw error
      }
    }
  }
}

/** An axios error, in a few words. */
function toldBy({ response, code, message }) {
  if (!response) return `no answer of the API: ${code ?? message}`
  return response.status < 300 ? `an answer of the API that is no JSON` : `the API answered ${response.status}`
}

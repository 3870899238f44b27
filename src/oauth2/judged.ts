import { quietly } from '../core/thrown.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import type { Members } from './document.ts'
import { type ErrorFunction, MEANINGS } from './error-meaning.ts'
import type { ErrorMeaning } from './oauth2-options.ts'

/**
 * Asks the function of the option `errors` what an answer means.
 *
 * @returns Undefined if it does not know, if it throws, or if it gives another word: then an anomaly says so.
 */
export function judgedBy(
  judge: ErrorFunction | undefined,
  status: number,
  document: Members | undefined,
  report: ExchangeContext['report'],
): ErrorMeaning | undefined {
  if (!judge) return undefined
  const members = Object.freeze(Object.assign(Object.create(null) as Record<string, unknown>, document))
  let judged: unknown = THREW
  quietly(() => (judged = judge({ status, members })))
  // Nobody awaits it: its rejection would end the process.
  if (judged instanceof Promise) judged.catch(() => undefined)
  const known = MEANINGS.find((meaning) => meaning === judged)
  if (judged !== undefined && known === undefined)
    report?.(
      'unexpected-response',
      `The function errors of oauth2 ${judged === THREW ? 'threw' : 'gave none of its words'}`,
    )
  return known
}

const THREW = Symbol('threw')

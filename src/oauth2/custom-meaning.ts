import { namesOf } from '../core/option-checks.ts'
import { quietly } from '../core/thrown.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import type { Members } from './document.ts'
import type { CustomCodes } from './error-words.ts'
import type { ErrorMeaning, OAuth2Options } from './oauth2-options.ts'

export const MEANINGS = /* @__PURE__ */ namesOf<Readonly<Record<ErrorMeaning, unknown>>>({
  invalid_grant: true,
  invalid_client: true,
  interaction_required: true,
  temporarily_unavailable: true,
  slow_down: true,
  invalid_request: true,
})

/** Classifies a response. */
type Classify = (
  status: number,
  document: Members | undefined,
  report: ExchangeContext['report'],
) => ErrorMeaning | 'invalid_target' | undefined

/** The option `errors`, validated. */
export interface CustomErrors {
  readonly codes: CustomCodes
  readonly classify?: Classify | undefined
}

/**
 * @param given The function of the option `errors`.
 * @returns A function that classifies as `given` does. Returns undefined if `given` returns `undefined`, throws, or returns an unknown value, and reports the
 * last two as an anomaly.
 */
export function classifier(given: Extract<OAuth2Options['errors'], (...given: never) => unknown>): Classify {
  return (status, document, report) => {
    const members = Object.freeze(Object.assign(Object.create(null) as Record<string, unknown>, document))
    let custom: unknown = THREW
    quietly(() => (custom = given({ status, members })))
    // An unhandled rejection would end the process.
    if (custom instanceof Promise) custom.catch(() => undefined)
    const known = MEANINGS.find((meaning) => meaning === custom)
    if (custom !== undefined && known === undefined)
      report?.(
        'unexpected-response',
        `The function errors of oauth2 ${custom === THREW ? 'threw' : 'returned an unknown error code'}`,
      )
    return known
  }
}

/** Equal to nothing that a function can return. */
const THREW = {}

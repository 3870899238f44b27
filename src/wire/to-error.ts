import { TokenError, type TokenErrorDetails } from '../core/errors.ts'
import type { Meaning } from './meaning.ts'

/** @returns The error of a failed exchange. All errors of token requests are made here. */
export function toError(meaning: Meaning, message: string, more?: TokenErrorDetails): TokenError {
  return new TokenError(meaning.code, message, { ...meaning, ...more })
}

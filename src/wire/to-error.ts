import { TokenError, type TokenErrorDetails } from '../core/errors.ts'
import type { Meaning } from './meaning.ts'

/** @returns The error of a failed exchange with this meaning. */
export function toError(meaning: Meaning, message: string, more?: TokenErrorDetails): TokenError {
  return new TokenError(meaning.code, message, { ...meaning, ...more })
}

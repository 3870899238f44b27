import { member } from '../core/thrown.ts'

/** The error and its causes. axios and fetch wrap the error that has the code. Each address of a host may have an error. */
export function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = []
  for (let link = thrown; typeof link === 'object' && link !== null && chain.length < 4; link = member(link, 'cause'))
    chain.push(link, ...listed(member(link, 'errors')))
  return chain
}

function listed(errors: unknown): unknown[] {
  try {
    return Array.isArray(errors) ? [...(errors as unknown[])] : []
  } catch {
    return []
  }
}

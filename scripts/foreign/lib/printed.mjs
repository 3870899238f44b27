import { inspect } from 'node:util'

/**
 * @returns What users may print of a response, an error or a text. Agents are printed only to the usual depth: an agent holds the sockets of running
 *   requests, and those hold their raw headers.
 */
export function printed(value) {
  if (!isObject(value)) return String(value)
  const { config, response } = value
  const bare = { ...value, config: withoutAgents(config) }
  if (response) bare.response = { ...response, config: withoutAgents(response.config) }
  const forms = [
    () => inspect(value),
    () => inspect(value, { depth: 5 }),
    () => inspect(bare, { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity }),
    () => inspect(value.cause, { depth: 5 }),
    () => value.message,
    () => value.stack,
    () => JSON.stringify(value),
    () => JSON.stringify(bare),
  ]
  return forms.map(formed).join('\n')
}

function withoutAgents(config) {
  return isObject(config) ? { ...config, httpAgent: undefined, httpsAgent: undefined } : config
}

function isObject(value) {
  return typeof value === 'object' && value !== null
}

/** A form that throws (a circular structure in JSON) shows nothing. */
function formed(form) {
  try {
    return form()
  } catch {
    return ''
  }
}

import { inspect } from 'node:util'

/**
 * What users print of a response, of an error or of a text. Only whoever prints an agent to the bottom sees more, by itself or by way of a config: it
 * holds the sockets of requests that are under way, and these their raw headers.
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

/** A form that cannot be made (a circle in JSON) shows nothing to anybody. */
function formed(form) {
  try {
    return form()
  } catch {
    return ''
  }
}

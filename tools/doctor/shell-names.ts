/** What a shell has instead of these options of the library, if the command has no option of the same name. */
const OTHER_NAMES: Readonly<Record<string, string | undefined>> = {
  clientId: 'EVERGREEN_CLIENT_ID',
  clientSecret: 'EVERGREEN_CLIENT_SECRET',
  login: 'EVERGREEN_LOGIN',
  password: 'EVERGREEN_PASSWORD',
  parameters: '--parameter',
}

/**
 * Replaces the names of the library's options in a message: the first word, and other words in camel case.
 *
 * @param options The options of the command, such as `client-id`.
 */
export function asTyped(message: string, options: object): string {
  const names = /^\w+|(?<= )[a-z]+(?:[A-Z][a-z]+)+/g
  const typed = message.replace(names, (name) => {
    const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return Object.hasOwn(options, option) ? `--${option}` : (OTHER_NAMES[name] ?? name)
  })
  return typed.replace('set --', 'pass --')
}

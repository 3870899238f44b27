import { posix } from 'node:path'

const PICTURE = /\.(svg|png|gif|webp)$/
const LINK = /(\]\()([^)\s]+)(\))|(\b(?:src|srcset)=")([^"]*)(")/g

/** @returns The address of the repository that package.json names, such as `https://github.com/somebody/something`; undefined if there is none. */
export function repositoryOf({ repository }) {
  const url = typeof repository === 'string' ? repository : repository?.url
  return url?.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** @returns {string} The rules, with the address of the runbook instead of its path. An engineer on call has the alert, not the package. */
export function withAbsoluteRunbooks(rules, { repository, version }) {
  return rules.replace(/(?<=^ *runbook: )(?=docs\/)/gm, `${repository}/blob/v${version}/`)
}

/**
 * Makes links of a packed page absolute: of the README all, because a registry shows it alone; of other pages those that lead out of the package.
 *
 * @param {{ name: string, text: string }} page Its path in the package, and what it says.
 * @param {{ repository: string, version: string, shipped: string[] }} goal Links lead to the tag of this version. `shipped`: the paths of all files in the
 * package.
 * @returns {string}
 */
export function withAbsoluteLinks({ name, text }, { repository, version, shipped }) {
  const absolute = (link) => {
    if (/^([a-z]+:|#)/.test(link)) return link
    const [path, anchor] = link.split('#')
    const target = posix.normalize(posix.join(posix.dirname(name), path))
    const isFolder = target.endsWith('/')
    const isShipped = shipped.some((file) => file === target || (isFolder && file.startsWith(target)))
    if (isShipped && name !== 'README.md') return link
    const kind = PICTURE.test(target) ? 'raw' : isFolder ? 'tree' : 'blob'
    return `${repository}/${kind}/v${version}/${target}${anchor === undefined ? '' : `#${anchor}`}`
  }
  const replaced = (_, before, link, after, ...picture) =>
    before === undefined ? picture[0] + absolute(picture[1]) + picture[2] : before + absolute(link) + after
  // Code is not touched.
  return text
    .split(/(^```.*?^```)/ms)
    .map((part) => (part.startsWith('```') ? part : part.replace(LINK, replaced)))
    .join('')
}

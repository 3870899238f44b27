// Follows the links of the site, pictures included: each must lead to a file of the site, and to the place there that it names.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

const files = new Set(readdirSync('site', { recursive: true }).map((name) => name.replaceAll('\\', '/')))
const texts = new Map()
const textOf = (file) => {
  if (!texts.has(file)) texts.set(file, readFileSync(`site/${file}`, 'utf8'))
  return texts.get(file)
}
const isElsewhere = (link) => /^([a-z]+:|\/\/)/.test(link)

const dead = []
let followed = 0
for (const page of files) {
  if (!page.endsWith('.html')) continue
  const links = textOf(page).matchAll(/\s(?:href|src|srcset)="([^" ]*)[^"]*"/g)
  for (const [, link] of links) {
    if (isElsewhere(link)) continue
    followed += 1
    const [path, place] = link.split('#').map(decodeURIComponent)
    const file = path === '' ? page : posix.join(posix.dirname(page), path)
    if (!files.has(file) || (place && !textOf(file).includes(` id="${place}"`))) dead.push(`${page}: ${link}`)
  }
}
for (const link of dead) console.error(`site/${link} leads nowhere`)
console.log(`${followed} links, ${dead.length} of them dead`)
if (dead.length > 0 || followed === 0) process.exitCode = 1

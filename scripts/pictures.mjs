// Records the data of the pictures in the documents that no build makes, and draws them: npm run docs:pictures [-- <name>]
import { readFileSync, writeFileSync } from 'node:fs'
import * as beforeAndAfter from './pictures/before-and-after.mjs'
import * as dashboard from './pictures/dashboard.mjs'

const DOCS = new URL('../docs/', import.meta.url)
const pictures = { 'before-and-after': beforeAndAfter, dashboard }

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in pictures))
if (unknown.length > 0)
  throw new Error(`There is no picture ${unknown.join(', ')}. There are: ${Object.keys(pictures).join(', ')}`)

for (const name of names.length > 0 ? names : Object.keys(pictures)) {
  const { page, record, draw } = pictures[name]
  const { title, svg } = draw(await record())
  writeFileSync(new URL(`images/${name}.svg`, DOCS), svg)
  const file = new URL(page, DOCS)
  const text = readFileSync(file, 'utf8')
  // The alternative text of the picture is its title.
  writeFileSync(file, text.replace(new RegExp(`!\\[[^\\]]*\\](\\(images/${name}\\.svg\\))`), `![${title}]$1`))
  console.log(`docs/images/${name}.svg: ${title}`)
}

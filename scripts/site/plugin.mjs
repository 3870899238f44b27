// What TypeDoc asks front matter for, which a forge would show as a table: the title of a page is its first heading. And what the
// pages name in passing, such as `attachBearer`, leads to the reference, at the first place of each page.
import { cpSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Converter, ReflectionKind, Renderer } from 'typedoc'

export function load({ converter, renderer }) {
  converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const named = new Map()
    const kinds =
      ReflectionKind.Module | ReflectionKind.Function | ReflectionKind.ClassOrInterface | ReflectionKind.TypeAlias
    for (const one of project.getReflectionsByKind(kinds)) if (!named.has(one.name)) named.set(one.name, one)
    for (const text of [project.readme, ...project.documents.map(({ content }) => content)]) link(text, new Map(named))
  })
  renderer.on(Renderer.EVENT_END, ({ outputDirectory }) => {
    const mermaid = createRequire(import.meta.url).resolve('@mermaid-js/tiny')
    cpSync(mermaid, `${outputDirectory}/assets/mermaid.js`) // for diagrams.js
  })
  // Addresses are made of names; from here on they stand.
  renderer.on(Renderer.EVENT_BEGIN, ({ project }) => {
    for (const page of project.documents) page.name = /^# (.+)/.exec(page.content[0].text)[1]
  })
}

/** Replaces parts of `text`: the first that names each of `named`, unless it stands in a heading or in a link. */
function link(text, named) {
  text.forEach(({ kind, text: code }, at) => {
    const before = text[at - 1]?.text ?? ''
    const [, name] = (kind === 'code' && /^`([\w/-]+)(?:\(.*\))?`$/.exec(code)) || []
    if (!named.has(name) || before.endsWith('[') || /(^|\n)#[^\n]*$/.test(before)) return
    text[at] = { kind: 'inline-tag', tag: '@linkcode', text: code.slice(1, -1), target: named.get(name) }
    named.delete(name)
  })
}

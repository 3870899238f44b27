// Groups the pages of the site. Takes the title of a page from its first heading. (TypeDoc reads titles from front matter, which a forge would show as a table.)
// Links a name such as `attachBearer` to the reference, where it first occurs on each page.
import { cpSync } from 'node:fs'
import { createRequire } from 'node:module'
import { posix } from 'node:path'
import { Converter, IndexEvent, JSX, PageEvent, ReflectionKind, Renderer } from 'typedoc'

const GROUPS = {
  Start: [
    'getting-started',
    'play',
    'renewal',
    'migrating',
    'auth0-spa-js',
    'oidc-client-ts',
    'keycloak-js',
    'msal',
    'supabase',
    'moving-logins',
    'your-tests',
  ],
  Guides: [
    ...[
      'oauth2',
      'logins',
      'step-up',
      'bff',
      'browser',
      'frameworks',
      'queries',
      'next',
      'worker',
      'token-service',
      'own-source',
      'managers',
      'resources',
    ],
    ...['fetch', 'mcp', 'dpop', 'one-machine', 'fleet', 'registers', 'serverless'],
  ],
  Operate: [
    ...[
      'operations',
      'errors',
      'failover',
      'doctor',
      'suspicious',
      'reference',
      'works-with',
      'places',
      'SECURITY',
      'CHANGELOG',
    ],
  ],
  Evidence: ['faults', 'rfcs', 'protocol', 'scorecard', 'benchmarks', 'proof', 'mutation', 'decisions', 'CONTRIBUTING'],
}

const OPEN = Object.keys(GROUPS)
  .map((group) => `localStorage['tsd-accordion-${group}']??='true'`)
  .join(';')
const CODE =
  "import axios from 'axios'\nconst one = async ({ a }: { a?: string }) => `${a} ${await axios.get(a!)}` // one"
const WARM_UP = { typescript: CODE, javascript: "import a from 'a'", bash: 'npm ci && npm test', json: '{ "a": [1] }' }

/** @returns The group in which the site lists a page. */
function groupOf({ name }) {
  const group = Object.keys(GROUPS).find((one) => GROUPS[one].includes(posix.basename(name)))
  if (group === undefined) throw new Error(`scripts/site/plugin.mjs names no group for the page ${name}`)
  return group
}

export function load({ converter, renderer }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const page of project.documents) page.frontmatter.group = groupOf(page)
  })
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
  // READONLY is what Redis responds with after a failover. The search ignores case, and would find the keyword of TypeScript on twenty pages.
  renderer.on(IndexEvent.PREPARE_INDEX, ({ searchResults, searchFields }) =>
    searchResults.forEach((page, at) => {
      if (!page.isDocument()) return
      searchFields[at] = { document: page.content.map(({ text }) => text.replaceAll('readonly ', '')).join('\n') }
    }),
  )
  // A grammar that is compiled while a line is highlighted may take longer than its limit: the line then has wrong colours. So each is compiled before.
  let isWarm = false
  renderer.on(PageEvent.BEGIN, () => {
    if (isWarm) return
    isWarm = true
    for (const [lang, code] of Object.entries(WARM_UP))
      for (let n = 0; n < 5; n += 1) renderer.markedPlugin.getHighlighted(code, lang)
  })
  // The groups of the navigation are open until a reader closes them.
  renderer.hooks.on('head.end', () =>
    JSX.createElement('script', null, JSX.createElement(JSX.Raw, { html: `try{${OPEN}}catch{}` })),
  )
  // TypeDoc makes addresses from names before this point, so a new name changes no address.
  renderer.on(Renderer.EVENT_BEGIN, ({ project }) => {
    for (const page of project.documents) page.name = /^# (.+)/.exec(page.content[0].text)[1]
  })
}

/** Makes links in `text`: of the first part that names each of `named`, unless that part is in a heading or in a link. */
function link(text, named) {
  text.forEach(({ kind, text: code }, at) => {
    const before = text[at - 1]?.text ?? ''
    const [, name] = (kind === 'code' && /^`([\w/-]+)(?:\(.*\))?`$/.exec(code)) || []
    if (!named.has(name) || before.endsWith('[') || /(^|\n)#[^\n]*$/.test(before)) return
    text[at] = { kind: 'inline-tag', tag: '@linkcode', text: code.slice(1, -1), target: named.get(name) }
    named.delete(name)
  })
}

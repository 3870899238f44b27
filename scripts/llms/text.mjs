// What llms.txt says: from the README and the pages, in the order of the site.
import { readFileSync } from 'node:fs'

import { MISTAKES } from './mistakes.mjs'

export function llmsText() {
  const readme = readFileSync('README.md', 'utf8')
  const { projectDocuments } = JSON.parse(readFileSync('typedoc.json', 'utf8'))
  const pages = projectDocuments.filter((path) => path.startsWith('docs/') && !path.startsWith('docs/evidence/'))
  return `# axios-evergreen

> ${firstSentence(readme)}

${sectionOf(readme, 'What it costs, and when not to use it')}

## Which entry for what

${sectionOf(readme, 'Which entry do I need?').split('\n\n')[0]}

## The smallest program

${sectionOf(readme, 'Any OAuth 2.0 server')}

## Ten mistakes

The package or its doctor (\`npx axios-evergreen doctor\`) reports each of them with these words.

${MISTAKES.map(({ wrong, says, right }) => `- ${wrong}: "${says}". ${right}.`).join('\n')}

## Pages

${pages.map(lineOf).join('\n')}
`
}

function lineOf(path) {
  const text = readFileSync(path, 'utf8')
  const [, title] = /^# (.*)$/m.exec(text)
  return `- [${title}](${path}): ${withPlainLinks(firstSentence(text))}`
}

/** @returns {string} The first sentence after the title. */
function firstSentence(text) {
  const paragraphs = text.replace(/^```.*?^```/gms, '').split('\n\n')
  const paragraph = paragraphs.find((part) => /^[\p{L}`[]/u.test(part)) ?? ''
  return /^.*?[.:](?=\s|$)/s.exec(paragraph.replaceAll('\n', ' '))?.[0].replace(/:$/, '.') ?? paragraph
}

const withPlainLinks = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

function sectionOf(page, heading) {
  return page.split(`\n## ${heading}\n`)[1].split('\n## ')[0].trim()
}

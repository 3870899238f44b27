// npm run play: writes one HTML file with the package as it is built for pages, a simulated service, and an interceptor written by hand:
// node scripts/play/build.mjs FILE. The script in the file is packed (deflate), because the whole file has a limit. It needs no network.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import { build as minify } from 'esbuild'
import { build } from 'rolldown'
import configs from '../../rolldown.config.mjs'

const MOST_BYTES = 124 * 1_024
const here = fileURLToPath(new URL('.', import.meta.url))
const project = join(here, '../..')
process.chdir(project)
const [target = 'site/play.html'] = process.argv.slice(2)
const textOf = (name) => readFileSync(join(here, name), 'utf8')

// The indentation would be a hundredth of the page.
const page = filled(textOf('page.html').replace(/^ +/gm, ''), {
  '/* style */': await minified('page.css'),
  '<!-- sides -->': side('package', 'With the package') + side('hand', 'By hand'),
  '<!-- programs -->': [
    ['With the package', 'app/with-package.mjs'],
    ['By hand', 'app/by-hand.mjs'],
  ]
    .map(([title, name]) => `<section><h2>${title}</h2><pre tabindex="0">${escaped(textOf(name))}</pre></section>`)
    .join(''),
  '/* script */': unpacking(deflateRawSync(await bundled(), { level: 9 })),
})
const bytes = Buffer.byteLength(page)
console.log(`${(bytes / 1_024).toFixed(1)} KiB of at most ${MOST_BYTES / 1_024}`)
if (bytes > MOST_BYTES) process.exitCode = 1
mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, page)

async function bundled() {
  const { output } = await build({
    input: join(here, 'app/main.mjs'),
    platform: 'browser',
    plugins: [await builtPackage()],
    output: { format: 'esm', minify: true, comments: false },
    write: false,
  })
  return output[0].code
}

/**
 * A plugin: `axios-evergreen` is the package as a page loads it, made by the configuration of the package itself, with the files that the member `browser` of
 * package.json replaces. `dist` is neither needed nor changed.
 */
async function builtPackage() {
  const { exports, browser } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [modules] = configs
  const { output } = await build({ ...modules, output: { ...modules.output, cleanDir: false }, write: false })
  const files = new Map(output.map(({ fileName, code }) => [`built:./dist/${fileName}`, code]))
  return {
    name: 'built-package',
    resolveId(id, importer) {
      const [, entry] = /^axios-evergreen(.*)$/.exec(id) ?? []
      if (entry !== undefined) return `built:${exports[`.${entry}`].import.default}`
      if (!importer?.startsWith('built:')) return undefined
      if (!id.startsWith('./')) return this.resolve(id, join(project, 'package.json'))
      const file = id.replace('./', './dist/')
      return `built:${browser[file] ?? file}`
    },
    load: (id) => files.get(id),
  }
}

async function minified(name) {
  const { outputFiles } = await minify({ entryPoints: [join(here, name)], minify: true, write: false })
  return outputFiles[0].text
}

/** @returns Bytes as text: two characters of 91 for 13 bits, which is a twelfth shorter than base64. None of the 91 needs an escape in a script. */
function written(bytes) {
  const signs = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter(
    (sign) => !"'<\\".includes(sign),
  )
  let [text, held, bits] = ['', 0, 0]
  for (const byte of bytes) {
    held |= byte << bits
    bits += 8
    if (bits < 13) continue
    text += signs[(held & 8191) % 91] + signs[Math.floor((held & 8191) / 91)]
    held >>= 13
    bits -= 13
  }
  return bits > 0 ? text + signs[held % 91] + signs[Math.floor(held / 91)] : text
}

/** @returns A script that reads what `written` wrote, unpacks a module and runs it. */
function unpacking(packed) {
  return `(async()=>{
const packed='${written(packed)}',bytes=new Uint8Array(${packed.length}),digit=(at)=>{const code=packed.charCodeAt(at);return code-33-(code>39)-(code>60)-(code>92)}
for(let at=0,to=0,held=0,bits=0;at<packed.length;at+=2){
held|=(digit(at)+91*digit(at+1))<<bits
for(bits+=13;bits>7;bits-=8,held>>=8)if(to<bytes.length)bytes[to++]=held
}
const text=await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text()
const script=document.createElement('script')
script.type='module'
script.textContent=text
document.body.append(script)
})()`
}

function side(id, title) {
  const lane = (part, name, hidden = '') =>
    `<div${hidden}><div class="name" aria-hidden="true">${name}</div><div class="lane" data-part="${part}"></div></div>`
  const count = (part, name) => `<div><dt>${name}</dt><dd data-part="${part}">0</dd></div>`
  return `<section class="side" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
<p data-part="says">The user logs in.</p>
${lane('tokens', 'token requests')}${lane('requests', 'requests')}${lane('second', 'requests of the second tab', ' hidden')}
<dl>${count('answered', 'succeeded')}${count('failed', 'failed')}${count('calls', 'token requests')}${count('lost', 'logins lost')}${count('seconds', 's logged out')}</dl>
</section>`
}

function filled(text, parts) {
  return Object.entries(parts).reduce((filling, [place, part]) => filling.replace(place, () => part), text)
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

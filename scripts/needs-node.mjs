// Says clearly that Node is too old, before anything else fails.
const [major, minor] = process.versions.node.split('.').map(Number)
const least = { 20: 19, 22: 12 }
if (major < 20 || major === 21 || minor < (least[major] ?? 0)) {
  console.error(`This needs Node 20.19, 22.12 or newer, and runs on ${process.versions.node}: install a newer one.`)
  process.exit(1)
}

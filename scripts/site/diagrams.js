/* global document, matchMedia, MutationObserver, URL */
// TypeDoc shows Mermaid diagrams as text. This script draws them, in the colours of the page.
{
  for (const end of document.querySelectorAll('code.mermaid br')) end.replaceWith('\n')
  const blocks = Array.from(document.querySelectorAll('code.mermaid'), ({ parentElement, textContent }) => ({
    place: parentElement,
    source: textContent,
  }))
  const darkMode = matchMedia('(prefers-color-scheme: dark)')

  const draw = async () => {
    const { theme } = document.documentElement.dataset
    const isDark = theme === 'dark' || (theme !== 'light' && darkMode.matches)
    globalThis.mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'default' })
    for (const [n, { place, source }] of blocks.entries())
      place.innerHTML = (await globalThis.mermaid.render(`diagram-${n}`, source)).svg
  }

  if (blocks.length > 0) {
    const script = document.createElement('script')
    script.src = new URL('mermaid.js', document.currentScript.src)
    script.addEventListener('load', () => {
      darkMode.addEventListener('change', draw)
      new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ['data-theme'] })
      void draw()
    })
    document.head.append(script)
  }
}

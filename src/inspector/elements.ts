/** The parts of the DOM that are used here. */
export interface Parent {
  append(...nodes: (Element | string)[]): void
}
export interface Element extends Parent {
  readonly style: Record<string, string>
  readonly childElementCount: number
  readonly lastElementChild: Element | null
  textContent: string
  title: string
  prepend(node: Element): void
  setAttribute(name: string, value: string): void
  remove(): void
}

/** Labels an element for assistive technology. */
export function described<Described extends Element>(element: Described, role: string, name: string): Described {
  element.setAttribute('role', role)
  element.setAttribute('aria-label', name)
  return element
}

export type Make = (
  name: string,
  style: Readonly<Record<string, string>>,
  ...children: readonly (Element | string)[]
) => Element

/** Uses DOM methods only: a Content-Security-Policy may forbid styles in markup, and markup that is made from text. */
export function maker(document: { createElement(name: string): Element }): Make {
  return (name, style, ...children) => {
    const made = document.createElement(name)
    Object.assign(made.style, style)
    made.append(...children)
    return made
  }
}

/** Names that the types of playwright-core take for granted. The tests use none of them. */
interface Node {
  readonly nodeType: number
}
type HTMLElement = Node
type SVGElement = Node
interface HTMLElementTagNameMap {
  readonly html: HTMLElement
}

/** Names that the types of playwright-core require. The tests use none of them. */
interface Node {
  readonly nodeType: number
}
type HTMLElement = Node
type SVGElement = Node
interface HTMLElementTagNameMap {
  readonly html: HTMLElement
}

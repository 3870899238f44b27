/** @returns A short text that represents a long one. With 106 bits, no two states of a search get the same text. */
export function hashOf(text: string): string {
  return half(text, 0x9e3779b9) + half(text, 0x85ebca6b)
}

function half(text: string, seed: number): string {
  let high = 0xdeadbeef ^ seed
  let low = 0x41c6ce57 ^ seed
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36)
}

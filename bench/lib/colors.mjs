/** Marks the package in all charts, or what it does for its callers; never the worst case. */
export const PACKAGE = '#0f766e'
/** All others, from the strongest to the faintest. No colour means good or bad. */
export const [STRONG, OTHER, FAINT] = ['#59636e', '#9aa4af', '#d0d7de']
/** Text, axes. */
export const INK = '#1f2328'

/** The colour on a dark page, by the colour on a light one. */
export const DARK = {
  [INK]: '#e6edf3',
  [PACKAGE]: '#2dd4bf',
  [STRONG]: '#b1bac4',
  [OTHER]: '#768390',
  [FAINT]: '#373e47',
}

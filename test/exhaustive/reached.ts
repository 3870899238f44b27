const reached = new Set<string>()

/** Records that the search has reached a required place. */
export function reach(place: string): void {
  reached.add(place)
}

/** @returns The places that the search has reached, in alphabetical order. */
export function reachedPlaces(): string[] {
  return [...reached].sort()
}

/** The scopes together must reach each of these places, or finding no violation proves nothing. */
export const PLACES: readonly string[] = [
  ...['lease busy', 'lease cooling', 'lease granted', 'lease newer'],
  ...['fate counted', 'fate dead', 'fate doubtful', 'fate keep'],
  ...['granted, in doubt', 'granted, private', 'granted, unclear'],
  ...['granted, missing: logged-out', 'granted, missing: lost', 'granted, missing: none-yet'],
  ...['shared cool-down', 'shared retry'],
  'R1: read in another epoch',
  'R2: an instant lies in the future',
  'R3: a later lease wins',
  'R4: granted, overlapped',
  'R5: a replace that is executed twice does nothing',
  'R8: granted as a last resort',
  'R8: presented again, in doubt',
  'R9: a replace from another epoch does nothing',
  'R10: a request is not replayed',
  'R10: a request is replayed',
  'R11: an owner reads an older record',
  ...['look newer', 'look missing', 'look nothing'],
  ...['an act: its login', 'an act: a later login elsewhere', 'an act: a logout erases its login'],
  ...['a login ends: in-doubt', 'a login ends: logged-out', 'a login ends: lost', 'a login ends: none-yet'],
]

type Optional<Members> = { [Name in keyof Members]: undefined extends Members[Name] ? Name : never }[keyof Members]
/** The members of a type. Those that may be undefined may be absent instead. */
export type Defined<Members> = Omit<Members, Optional<Members>> & {
  [Name in Optional<Members>]?: Exclude<Members[Name], undefined>
}

/** @returns The members that are not undefined: storage and logs distinguish a member that is undefined from one that is absent. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<Members>
}

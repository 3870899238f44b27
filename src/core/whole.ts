/** An object with all of its members, each its own: what only `Object.prototype` has is never read (F402). */
export type Whole<Type> = { readonly [Name in keyof Required<Type>]: Type[Name] }

/** The members of a type that may be absent, each of them. */
export type Absent<Type> = { readonly [Name in keyof Type as undefined extends Type[Name] ? Name : never]-?: undefined }

/** @returns The same members, without a prototype. */
export function bare<Given extends object>(given: Given): Given {
  return Object.setPrototypeOf({ ...given }, null) as Given
}

/** An object whose members are all own members, so that none is read from `Object.prototype` (F402). */
export type Whole<Type> = { readonly [Name in keyof Required<Type>]: Type[Name] }

/** All members of a type that may be absent, each undefined. */
export type Absent<Type> = { readonly [Name in keyof Type as undefined extends Type[Name] ? Name : never]-?: undefined }

/** @returns The same members, without a prototype. */
export function bare<Given extends object>(given: Given): Given {
  return Object.setPrototypeOf({ ...given }, null) as Given
}

/** A DOM name that the SDK types use. */
type HeadersInit = ConstructorParameters<typeof Headers>[0]

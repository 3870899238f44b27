/** A name of the DOM that the types of the SDK use. */
type HeadersInit = ConstructorParameters<typeof Headers>[0]

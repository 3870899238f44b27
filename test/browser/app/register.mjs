// Imports the sources, because the package does not export registers.
import { indexedDatabases } from '../../../src/web/indexed-db.ts'
import { webRegister } from '../../../src/web/web-register.ts'

globalThis.register = webRegister(indexedDatabases())

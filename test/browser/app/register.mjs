// Of the sources, not of the package: registers are not exported.
import { indexedDatabases } from '../../../src/web/indexed-db.ts'
import { webRegister } from '../../../src/web/web-register.ts'

globalThis.register = webRegister(indexedDatabases())

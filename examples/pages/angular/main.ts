// Angular's CLI compiles the templates, so the page needs no compiler.
import '@angular/compiler'
import './session.ts'

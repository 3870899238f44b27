// The CLI of Angular compiles the templates, and needs no compiler in the page.
import '@angular/compiler'
import './session.ts'

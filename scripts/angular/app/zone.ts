import './copies/angular/session.ts'

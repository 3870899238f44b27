import { describe } from '@jest/globals'
import { promisesOfLogin } from './login-promises.ts'
import { A_REGISTER, A_SEALED_REGISTER, IN_MEMORY, NO_STORE } from './world.ts'

describe.each([NO_STORE, IN_MEMORY, A_REGISTER, A_SEALED_REGISTER])(
  'given a login with two APIs, and $name',
  promisesOfLogin,
)

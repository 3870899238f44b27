/** All names of the built package, or of the module that `EVERGREEN` names. */
export const library = process.env.EVERGREEN
  ? await import(process.env.EVERGREEN)
  : {
      ...(await import('axios-evergreen')),
      ...(await import('axios-evergreen/postgres')),
      ...(await import('axios-evergreen/redis')),
      ...(await import('axios-evergreen/sqlite')),
      ...(await import('axios-evergreen/testing')),
    }

import type { AxiosResponse } from 'axios'
import type { BearerOptions } from '../client/bearer-options.ts'

/** The options of `attachBearer`. */
export type AttachOptions = Omit<BearerOptions<AxiosResponse, boolean>, 'overwrite'>

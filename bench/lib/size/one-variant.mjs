export { attachBearer, clientCredentials, createTokenManager } from '../../../dist/index.js'

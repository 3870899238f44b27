import findPostgres from './postgres-setup.mjs'
import findRedis from './redis-setup.mjs'

export default function setup() {
  findRedis()
  findPostgres()
}

// In a folder of its own, so that jest-environment-jsdom is found beside it.
module.exports = require('jest-environment-jsdom')

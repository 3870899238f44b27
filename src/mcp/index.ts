/**
 * One login for all agents of a machine: the transports of the MCP SDK log in, and a token manager keeps the login for all processes.
 *
 * @module axios-evergreen/mcp
 */
export { type McpAuthProvider, type McpLogin, mcpLogin, type McpLoginOptions } from './mcp-login.ts'

/** The arguments are wrong. The message quotes no value of an argument: the value may be a secret. */
export class Misuse extends Error {}

/** The arguments are wrong. The message quotes no argument but the name of a file: others may be secrets. */
export class Misuse extends Error {}

// Generated from the Rust types by a test of the crate `dashboard`: UPDATE_SNAPSHOTS=1 writes it.

export type PageStatus = { version: string, 
/**
 * The name of the machine.
 */
machine: string, started: number, };

/**
 * How long due work is one process's: long enough for a slow rail's answer; a process that died gives it up after it.
 * Real time, not business time.
 */
export const CLAIM = "interval '20 seconds'";

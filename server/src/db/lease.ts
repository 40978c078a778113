/**
 * Duration of a lease on due work: long enough for a slow rail response. After a crash, another process takes over when
 * the lease expires. Measured in real time, not business time.
 */
export const LEASE_INTERVAL = "interval '20 seconds'";

/**
 * Settings of a stack on one machine. The secrets are public by design: they start with `dev-`, and production servers
 * reject them.
 */
export interface StackAddresses {
  readonly databaseUrl: string;
  readonly simulatorUrl: string;
  readonly baseUrl: string;
  readonly port?: number;
  readonly opsPort?: number;
}

export function serverSettings(addresses: StackAddresses): Record<string, string> {
  return {
    CAUDAL_ENV: 'development',
    CAUDAL_CELL: '1',
    CAUDAL_PORT: String(addresses.port ?? 0),
    CAUDAL_OPS_PORT: String(addresses.opsPort ?? 0),
    CAUDAL_BASE_URL: addresses.baseUrl,
    CAUDAL_CHECKOUT_URL: `${addresses.baseUrl}/checkout`,
    DATABASE_URL: addresses.databaseUrl,
    CAUDAL_MASTER_KEY: 'dev-master-key-of-a-single-machine-only',
    CAUDAL_KEY_PEPPER: 'dev-pepper-of-a-single-machine-only-1',
    CAUDAL_TOKEN_KEY: 'dev-token-key-of-a-single-machine-only',
    CAUDAL_RECEIPT_KEY: 'dev-receipt-key-of-a-single-machine-only',
    BREB_URL: `${addresses.simulatorUrl}/breb`,
    BREB_CLIENT_ID: 'caudal-dev',
    BREB_CLIENT_SECRET: 'dev-breb-secret',
    BREB_NOTICE_SECRET: 'dev-breb-notice-secret-of-one-machine',
    // Documented by the simulator: it rejects duplicates by end-to-end id and decides within 20 seconds.
    BREB_REJECTS_DUPLICATE_ORDERS: 'yes',
    // The holder of all keys in the simulator's directory.
    BREB_RECEIVER_NAME: 'RECAUDOS CAUDAL SIMULADO SAS',
    BREB_MAX_PROCESSING_MS: '20000',
    PSE_URL: `${addresses.simulatorUrl}/pse`,
    PSE_ENTITY: 'caudal-dev',
    PSE_SECRET: 'dev-pse-secret',
    PSE_NOTICE_SECRET: 'dev-pse-notice-secret-of-one-machine',
    CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'yes',
    // Author of operator commands in the audit log.
    CAUDAL_BY: 'development',
    // No load balancer.
    CAUDAL_DRAIN_MS: '0',
    // Enforced as in production but never reached: one organization makes all requests here.
    CAUDAL_WRITES_PER_SECOND: '1000000',
    CAUDAL_READS_PER_SECOND: '1000000',
  };
}

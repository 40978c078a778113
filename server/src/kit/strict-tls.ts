/** Certificates of one peer, as PEM text. */
export interface TlsMaterial {
  /** CA certificates to trust instead of the system's. */
  readonly ca: string | null;
  /** Client certificate chain and its private key, for mutual TLS. */
  readonly client: { readonly cert: string; readonly key: string } | null;
}

/**
 * TLS options of outgoing connections. Both rules are explicit, because an environment variable
 * (NODE_TLS_REJECT_UNAUTHORIZED) and a command line option (--tls-min-v1.0) can weaken Node's defaults.
 */
export function strictTls(material: TlsMaterial | null) {
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(material?.ca ? { ca: material.ca } : {}),
    ...material?.client,
  } as const;
}

/** The same for connections of undici. */
export function strictConnector(material: TlsMaterial | null, timeout: number) {
  // No session resumption: a resumed session skips the check of the certificate.
  return { ...strictTls(material), timeout, maxCachedSessions: 0 };
}

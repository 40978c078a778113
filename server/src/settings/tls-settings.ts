import { z } from 'zod';

const file = (description: string) => z.string().min(1).max(4096).optional().describe(description);

/** Certificates of outgoing connections: paths of PEM files, read at startup. */
export const TLS_SETTINGS = {
  BREB_TLS_CA_FILE: file(
    "PEM file with the CA certificates that sign the Bre-B node's certificate. Not set: the CA certificates of the system.",
  ),
  BREB_TLS_CERT_FILE: file(
    'PEM file with our client certificate for the Bre-B node (mutual TLS), with its intermediate certificates. Required with BREB_TLS_KEY_FILE.',
  ),
  BREB_TLS_KEY_FILE: file('PEM file with the unencrypted private key of BREB_TLS_CERT_FILE.'),
  PSE_TLS_CA_FILE: file("PEM file with the CA certificates that sign PSE's certificate."),
  PSE_TLS_CERT_FILE: file('PEM file with our client certificate for PSE. Required with PSE_TLS_KEY_FILE.'),
  PSE_TLS_KEY_FILE: file('PEM file with the unencrypted private key of PSE_TLS_CERT_FILE.'),
  CAUDAL_SMTP_TLS_CA_FILE: file("PEM file with the CA certificates that sign the SMTP server's certificate."),
  CAUDAL_SMTP_TLS_CERT_FILE: file(
    'PEM file with our client certificate for the SMTP server. Required with CAUDAL_SMTP_TLS_KEY_FILE.',
  ),
  CAUDAL_SMTP_TLS_KEY_FILE: file('PEM file with the unencrypted private key of CAUDAL_SMTP_TLS_CERT_FILE.'),
} as const;

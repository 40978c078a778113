/** A table with values that are encrypted with the data key of the row's organization. */
export interface EncryptedTable {
  readonly name: string;
  /** The primary key after `organization_id`, with the types of its columns. */
  readonly key: Readonly<Record<string, 'uuid' | 'smallint'>>;
  /** The column whose value is the last part of the identity that a value is bound to. */
  readonly idColumn: string;
  /** The encrypted columns, each with the first part of the identity that its values are bound to. */
  readonly columns: Readonly<Record<string, string>>;
  /** SQL condition for rows whose values may be encrypted again now. Default: all. */
  readonly changeable?: string;
}

const BY_ID = { key: { id: 'uuid' }, idColumn: 'id' } as const;

/** Every column with values that a rotation of data keys must encrypt again. */
export const ENCRYPTED_TABLES: readonly EncryptedTable[] = [
  {
    name: 'payins',
    ...BY_ID,
    columns: { customer: 'payins.customer', metadata: 'payins.metadata' },
  },
  {
    name: 'payer_authorizations',
    key: { payin_id: 'uuid' },
    idColumn: 'payin_id',
    columns: { evidence: 'payer_authorizations.evidence' },
  },
  { name: 'rail_notices', ...BY_ID, columns: { raw: 'rail_notices.raw' } },
  {
    name: 'payouts',
    ...BY_ID,
    columns: {
      customer: 'payouts.customer',
      receiver: 'payouts.receiver',
      metadata: 'payouts.metadata',
    },
    // The database rejects every change of the receiver while the payout may still be sent.
    changeable: "t.status <> 'PROCESSING'",
  },
  {
    name: 'payment_links',
    ...BY_ID,
    columns: { customer: 'payment_links.customer', metadata: 'payment_links.metadata' },
  },
  { name: 'events', ...BY_ID, columns: { payload: 'events.payload' } },
  {
    name: 'webhook_endpoints',
    ...BY_ID,
    columns: {
      address: 'webhook_endpoints.address',
      static_header: 'webhook_endpoints.static_header',
      secret: 'webhook_endpoints.secret',
      previous_secret: 'webhook_endpoints.secret',
      older_secret: 'webhook_endpoints.secret',
      created_as: 'webhook_endpoints.created_as',
    },
  },
  {
    name: 'webhook_attempts',
    key: { endpoint_id: 'uuid', event_id: 'uuid', number: 'smallint' },
    idColumn: 'endpoint_id',
    columns: { answer: 'webhook_endpoints.answer' },
  },
  { name: 'receipt_emails', ...BY_ID, columns: { address: 'receipt_emails.address' } },
  { name: 'person_holds', ...BY_ID, columns: { identifier: 'person_holds.identifier' } },
];

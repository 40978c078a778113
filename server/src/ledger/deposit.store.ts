import type { Transfer } from './transfer.ts';

/** The operator's reference belongs to the organization: two may use the same. */
export function depositCause(organizationId: string, reference: string): Transfer['cause'] {
  return { kind: 'deposit', id: `${organizationId}:${reference}` };
}

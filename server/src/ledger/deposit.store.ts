import type { Transfer } from './transfer.ts';

/** References are unique per organization: two organizations may use the same one. */
export function depositCause(organizationId: string, reference: string): Transfer['cause'] {
  return { kind: 'deposit', id: `${organizationId}:${reference}` };
}

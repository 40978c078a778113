import type { Customer } from '../customers/customer.ts';
import {
  documentHash,
  emailHash,
  normalizeDocumentNumber,
  normalizeEmail,
} from '../customers/customer-index.ts';
import { hmac, type SecretKey } from '../kit/crypto.ts';

/** How a person is identified in a request about their data. */
export type PersonIdentifier =
  | ({ readonly kind: 'document' } & Pick<Customer, 'idType' | 'idNumber'>)
  | { readonly kind: 'email'; readonly email: string };

/** The resources that contain personal data of payers and receivers. */
export const RESOURCE_KINDS = ['payin', 'payout', 'payment_link'] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Shown as the Bre-B key of a payout whose personal data was erased. */
export const ERASED_RECEIVER = 'erased';

/**
 * Identifies the person in the audit log and among the legal holds, without the identifier itself.
 * @param hashKey the operator organization's
 */
export function personHash(hashKey: SecretKey, identifier: PersonIdentifier): Buffer {
  return hmac(hashKey, `person\n${normalized(identifier)}`).subarray(0, 16);
}

function normalized(identifier: PersonIdentifier): string {
  return identifier.kind === 'email'
    ? `email\n${normalizeEmail(identifier.email)}`
    : `document\n${identifier.idType}\n${normalizeDocumentNumber(identifier.idNumber)}`;
}

export function isCustomer(identifier: PersonIdentifier, customer: Customer): boolean {
  return identifier.kind === 'email'
    ? normalizeEmail(identifier.email) === normalizeEmail(customer.email)
    : identifier.idType === customer.idType &&
        normalizeDocumentNumber(identifier.idNumber) === normalizeDocumentNumber(customer.idNumber);
}

/** The hashes of a person in the customer indexes of one organization. */
export interface CustomerHashes {
  readonly document: Buffer | null;
  readonly email: Buffer | null;
}

export function customerHashes(hashKey: SecretKey, identifier: PersonIdentifier): CustomerHashes {
  return identifier.kind === 'email'
    ? { document: null, email: emailHash(hashKey, identifier.email) }
    : { document: documentHash(hashKey, identifier), email: null };
}

/** Document types as the Bre-B directory writes them. */
const DIRECTORY_TYPES: Readonly<Record<Customer['idType'], string>> = {
  CO_CC: 'CC',
  CO_CE: 'CE',
  CO_NIT: 'NIT',
  PASSPORT: 'PAS',
  MXN_RFC: 'PAS',
};

/** The documents under which the directory may list the person as the holder of a Bre-B key. */
export function directoryDocuments(
  identifier: PersonIdentifier,
): { readonly documentType: string; readonly documentNumber: string }[] {
  if (identifier.kind === 'email') return [];
  const documentType = DIRECTORY_TYPES[identifier.idType];
  const numbers = new Set([identifier.idNumber.trim(), normalizeDocumentNumber(identifier.idNumber)]);
  return [...numbers].map((documentNumber) => ({ documentType, documentNumber }));
}

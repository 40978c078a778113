import { emptyFields, type FieldsOf } from '../db/columns.ts';
import { type FIELD_COLUMNS, RESULT_COLUMNS } from './payout.columns.ts';

export interface Payout extends FieldsOf<typeof FIELD_COLUMNS> {
  /** The receiver's Bre-B key, normalized. */
  readonly brebKey: string;
}

/** The fields that only a result sets, all null. */
const NO_RESULT = emptyFields(RESULT_COLUMNS);

/**
 * The payout as its creation returned it, never a later state. It is always PROCESSING: lack of funds is an outcome, and
 * events report outcomes.
 */
export function asCreated(payout: Omit<Payout, keyof typeof NO_RESULT | 'status' | 'updatedAt'>): Payout {
  return { ...payout, ...NO_RESULT, status: 'PROCESSING', updatedAt: payout.createdAt };
}

import { emptyFields, type FieldsOf } from '../db/columns.ts';
import {
  type FIELD_COLUMNS,
  type KEY_TYPES,
  type PAYIN_ERROR_CODES,
  type PERSON_TYPES,
  RESULT_COLUMNS,
} from './payin.columns.ts';
import { FIRST_STATUS } from './payin.states.ts';

export type PayinErrorCode = (typeof PAYIN_ERROR_CODES)[number];

/** How the payer pays: the part of the rail-specific data that a request contains. */
export type PayinMethod =
  | { readonly rail: 'BRE_B'; readonly keyType: (typeof KEY_TYPES)[number] }
  | { readonly rail: 'PSE'; readonly bank: string; readonly personType: (typeof PERSON_TYPES)[number] };

/** The rail-specific data of a payin. */
export type PayinSource =
  | (Extract<PayinMethod, { rail: 'BRE_B' }> & { readonly key: string })
  | (Extract<PayinMethod, { rail: 'PSE' }> & {
      /** The bank page once known, the time it became known, and PSE's trace number (CUS) of the transaction. */
      readonly page: { readonly url: string; readonly at: Date; readonly cus: string | null } | null;
    });

export interface Payin extends FieldsOf<typeof FIELD_COLUMNS> {
  readonly source: PayinSource;
}

/** The fields that only a result sets, all null. */
const NO_RESULT = emptyFields(RESULT_COLUMNS);

/**
 * The payin as returned by its creation, also for a replayed request. It includes the bank page as soon as that is known,
 * but never a later state.
 */
export function asCreated(payin: Omit<Payin, keyof typeof NO_RESULT | 'status' | 'updatedAt'>): Payin {
  const { source, createdAt } = payin;
  const page = source.rail === 'PSE' ? source.page : null;
  return {
    ...payin,
    ...NO_RESULT,
    status: page ? 'PROCESSING' : FIRST_STATUS[source.rail],
    updatedAt: page?.at ?? createdAt,
  };
}

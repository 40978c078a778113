import type { RailErrorCode } from '../contract.ts';

/** Maps rejection codes of the directory and of settlement to the merchant's error codes. */
export const ERROR_CODES: ReadonlyMap<string, RailErrorCode> = new Map(
  Object.entries({
    '0004': 'KEY_NOT_FOUND',
    '0005': 'KEY_SUSPENDED',
    '0006': 'KEY_SUSPENDED',
    '4000': 'KEY_INVALID',
    '4001': 'KEY_INVALID',
    '5005': 'KEY_INVALID',
    '4007': 'INVALID_DATA',
    '4008': 'INVALID_DATA',
    '4010': 'ACCOUNT_NOT_FOUND',
    '4011': 'SUSPECTED_FRAUD',
    '4012': 'LIMIT_EXCEEDED',
    '4013': 'NETWORK_LIMIT_EXCEEDED',
    '4014': 'LIMIT_EXCEEDED',
    '4016': 'RAIL_REJECTED',
    '4017': 'RAIL_TIMEOUT',
    '4019': 'RAIL_TIMEOUT',
  }),
);

/** For an order, 4008 (wrong identification) means that the key's holder has changed since the lookup. */
export const ORDER_ERROR_CODES: ReadonlyMap<string, RailErrorCode> = new Map([
  ...ERROR_CODES,
  ['4008', 'RECEIVER_MISMATCH'],
]);

/** Rejections by this participant, for its own limit or for a reason that it does not state: another one may accept. */
export const PARTICIPANT_CODES: ReadonlySet<string> = new Set(['4014', '4016']);

/** Codes with which the node definitely rejects a key or an order: repeating the call does not change the answer. */
export const DEFINITIVE_CODES: ReadonlySet<string> = new Set([
  '0004',
  '0005',
  '0006',
  '4000',
  '4001',
  '5005',
  '4011',
  '4012',
  '4013',
  '4014',
  '4016',
]);

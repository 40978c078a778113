import type { KeyType } from './key-type.ts';

type Holder = {
  readonly participant: { readonly nit: string; readonly node: string };
  readonly account: { readonly type: string; readonly number: string };
  readonly person: {
    readonly type: 'N' | 'L';
    readonly documentType: string;
    readonly documentNumber: string;
    readonly names: string;
  };
};

export type Resolution = {
  readonly resolutionId: string;
  readonly key: string;
  readonly keyType: KeyType;
} & Holder;

/** Where registered keys lead: the collecting account. No such company or number exists. */
export const COLLECTOR: Holder = {
  participant: { nit: '900000001', node: 'CRB' },
  account: { type: 'CCTE', number: '000100200300' },
  person: {
    type: 'L',
    documentType: 'NIT',
    documentNumber: '9000000019',
    names: 'RECAUDOS CAUDAL SIMULADO SAS',
  },
};

const TEST_HOLDER: Holder = {
  participant: { nit: '900000002', node: 'TFY' },
  account: { type: 'CAHO', number: '000900816987' },
  person: { type: 'N', documentType: 'CC', documentNumber: '1000000099', names: 'JANETH SMITH PRUEBA' },
};

/** Keys that are always there. The payout ones differ only in how a payment to them will end. */
export const TEST_KEYS: ReadonlyMap<string, { holder: Holder } | { code: '0004' | '0005' }> = new Map([
  ['@TESTOK', { holder: TEST_HOLDER }],
  ['@TESTDECLINED', { holder: TEST_HOLDER }],
  ['@TESTTIMEOUT', { holder: TEST_HOLDER }],
  ['@TESTLOSTANSWER', { holder: TEST_HOLDER }],
  ['@TESTSUSPENDED', { code: '0005' }],
  ['@TESTNOTFOUND', { code: '0004' }],
]);

export const DIRECTORY_MESSAGES = {
  '0004': 'the key does not exist or was canceled',
  '0005': 'the key is suspended by its holder',
  '4000': 'the key has no valid format',
  '4016': 'the key belongs to somebody else',
} as const;

/** The account holder a key resolves to. */
export type Holder = {
  readonly participant: { readonly nit: string; readonly node: string; readonly name?: string | undefined };
  readonly account: { readonly type: string; readonly number: string };
  readonly person: {
    readonly type: 'N' | 'L';
    readonly documentType: string;
    readonly documentNumber: string;
    readonly names: string;
  };
};

export const LISTING_STATUSES = ['ACTIVE', 'SUSPENDED_BY_CLIENT', 'SUSPENDED_BY_PARTICIPANT'] as const;

export type Listing = { readonly status: (typeof LISTING_STATUSES)[number]; readonly holder: Holder };

/** Holder of all registered keys: the collecting account. The company and its numbers are fictitious. */
export const COLLECTOR: Holder = {
  participant: { nit: '900000001', node: 'CRB', name: 'BANCO RECAUDADOR SIMULADO' },
  account: { type: 'CCTE', number: '000100200300' },
  person: {
    type: 'L',
    documentType: 'NIT',
    documentNumber: '9000000019',
    names: 'RECAUDOS CAUDAL SIMULADO SAS',
  },
};

/** Holder of the test keys, and of keys added to the directory without a holder. */
export const TEST_HOLDER: Holder = {
  participant: { nit: '900000002', node: 'TFY', name: 'BANCO DE PRUEBAS' },
  account: { type: 'CAHO', number: '000900816987' },
  person: { type: 'N', documentType: 'CC', documentNumber: '1000000099', names: 'JANETH SMITH PRUEBA' },
};

/** Error codes of a lookup. 4001, 5000, 5001 and 5005 are returned only by an injected fault. */
export const DIRECTORY_CODES = ['0004', '0005', '0006', '4000', '4001', '5000', '5001', '5005'] as const;

export type DirectoryCode = (typeof DIRECTORY_CODES)[number];

export const DIRECTORY_MESSAGES = {
  '0004': 'the key does not exist or was canceled',
  '0005': 'the key is suspended by its holder',
  '0006': 'the key is suspended by its participant',
  '4000': 'the key has no valid format',
  '4001': 'the key has no valid format for its type',
  '4016': 'the key belongs to another holder',
  '5000': 'the directory did not answer in time',
  '5001': 'the same request is already being processed',
  '5005': 'the request has no valid format',
} as const satisfies Record<DirectoryCode | '4016', string>;

import { type Listing, TEST_HOLDER } from './directory.ts';

/**
 * Built-in keys for lookups and payouts. The rail and the home page use the same table. An order to an active
 * key settles unless the table says otherwise.
 */
type TestKey = {
  readonly key: string;
  /** Null for the key that does not exist. */
  readonly listing: Listing | null;
  /** Rejection code of its orders. */
  readonly rejects?: '4010';
  /** Its orders stay PROCESSING until the control API ends them. */
  readonly staysProcessing?: true;
  /** The answer to the call that contains its order is lost, for all orders of the call. */
  readonly losesAnswer?: true;
  readonly es: string;
  readonly en: string;
};

const ACTIVE: Listing = { status: 'ACTIVE', holder: TEST_HOLDER };

const ALL: readonly TestKey[] = [
  { key: '@TESTOK', listing: ACTIVE, es: 'El pago se liquida', en: 'settled' },
  {
    key: '@TESTDECLINED',
    listing: ACTIVE,
    rejects: '4010',
    es: 'El pago se rechaza con 4010: la cuenta no existe',
    en: 'rejected with 4010, no such account',
  },
  {
    key: '@TESTTIMEOUT',
    listing: ACTIVE,
    staysProcessing: true,
    es: 'El pago queda en proceso hasta que se decida en /control/orders/end',
    en: 'stays in process until the control API ends it',
  },
  {
    key: '@TESTLOSTANSWER',
    listing: ACTIVE,
    losesAnswer: true,
    es: 'La respuesta a la orden se pierde; luego, el pago se liquida',
    en: 'the answer to the order is lost, then settled',
  },
  {
    key: '@TESTSUSPENDED',
    listing: { status: 'SUSPENDED_BY_CLIENT', holder: TEST_HOLDER },
    es: 'Consulta y pago: 0005, suspendida por su titular',
    en: 'lookup and order: 0005, suspended by its holder',
  },
  {
    key: '@TESTNOTFOUND',
    listing: null,
    es: 'Consulta y pago: 0004, no existe',
    en: 'lookup and order: 0004, does not exist',
  },
];

export const TEST_KEYS: ReadonlyMap<string, TestKey> = new Map(ALL.map((test) => [test.key, test]));

import { type Listing, TEST_HOLDER } from './directory.ts';

/**
 * Keys that are always there, for lookups and payouts. Data, because the home page shows the same table that
 * the rail obeys. An order to one that is listed and active settles, unless the table says otherwise.
 */
type TestKey = {
  readonly key: string;
  /** Null for the one that is not there. */
  readonly listing: Listing | null;
  /** The settlement's code. */
  readonly rejects?: '4010';
  /** Stays PROCESSING until the control interface ends it. */
  readonly neverEnds?: true;
  /** The answer to the call that carries its order is lost, with whatever else was in it. */
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
    neverEnds: true,
    es: 'El pago queda en proceso hasta que se decida en /control/orders/end',
    en: 'stays in process until ended by control',
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

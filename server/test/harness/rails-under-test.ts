import { randomBytes, randomUUID } from 'node:crypto';
import { uuidToBase32 } from '../../src/kit/ids.ts';
import { cents, MAX_AMOUNT_IN_CENTS } from '../../src/kit/money.ts';
import type { TlsMaterial } from '../../src/kit/strict-tls.ts';
import { BrebConnector } from '../../src/rails/breb/connector.ts';
import type { CollectOrder, PayOrder, RailConnector } from '../../src/rails/contract.ts';
import { PseConnector } from '../../src/rails/pse/connector.ts';
import { json, type PeerCall, type PeerReply } from './faulty-peer.ts';
import { CUSTOMER } from './payin-requests.ts';
import type { SimulatorControl, SimulatorStats } from './simulator-control.ts';

type Connected = RailConnector & { disconnect(): Promise<void> };

/** A rail connector, with what a test needs to build orders and to inspect the simulator. */
export interface RailUnderTest {
  readonly rail: 'BRE_B' | 'PSE';
  /** @param url of the simulator, or of a peer that replaces it */
  connect(url: string, secret?: string, tls?: TlsMaterial | null): Connected;
  order(changes?: Partial<CollectOrder>): CollectOrder;
  /** The simulator's operation names of the two calls, for fault injection. */
  readonly operations: { readonly open: string; readonly query: string };
  /** Total number of collections in the simulator. */
  countCollections(stats: SimulatorStats): number;
  /** Whether the simulator has this collection. */
  hasCollection(simulator: SimulatorControl, reference: string): Promise<boolean>;
  /** A valid status response for one reference. */
  statusResponse(reference: string): object;
}

const PAYER_DOCUMENT = '900000001';

const COMMON = { description: 'order-1', payer: CUSTOMER, amount: cents(4_980_000n) };

export const BREB: RailUnderTest = {
  rail: 'BRE_B',
  connect: (url, secret, tls) => connectBreb(url, secret, true, tls),
  order: (changes = {}) => ({
    ...COMMON,
    reference: `@T${randomBytes(8).toString('hex').toUpperCase()}`,
    payinId: randomUUID(),
    expiresAt: inAnHour(),
    bank: null,
    ...changes,
  }),
  operations: { open: 'register', query: 'query' },
  countCollections: (stats) => stats.keys.registered,
  hasCollection: async (simulator, reference) => (await simulator.key(reference)) !== null,
  statusResponse: (reference) => ({ key: reference, status: 'REGISTERED', payments: [] }),
};

export const PSE: RailUnderTest = {
  rail: 'PSE',
  connect: (url, secret = 'dev-pse-secret', tls = null) =>
    new PseConnector({
      url: `${url}/pse`,
      entity: 'caudal-dev',
      secret,
      tls,
      allowsHttpPages: true,
      maxProcessingMs: 60_000,
      minAmount: cents(150_000),
      maxAmount: cents(MAX_AMOUNT_IN_CENTS),
    }),
  order: (changes = {}) => {
    const payinId = randomUUID();
    return {
      ...COMMON,
      reference: uuidToBase32(payinId),
      payinId,
      expiresAt: inAnHour(),
      bank: { code: 'CO_BANCOLOMBIA', business: false, returnUrl: 'http://127.0.0.1:1/checkout/p/x' },
      ...changes,
    };
  },
  operations: { open: 'create', query: 'query' },
  countCollections: (stats) => stats.transactions,
  hasCollection: async (simulator, reference) => (await simulator.transaction(reference)) !== null,
  statusResponse: (reference) => ({
    reference,
    state: 'PENDING',
    transactionId: 'T1',
    trazabilityCode: '123',
    bankUrl: 'https://bank.example/pay',
    amount: '49800.00',
    reason: null,
  }),
};

export function connectBreb(
  url: string,
  clientSecret = 'dev-breb-secret',
  rejectsDuplicateOrders = true,
  tls: TlsMaterial | null = null,
): BrebConnector {
  return new BrebConnector({
    url: `${url}/breb`,
    clientId: 'caudal-dev',
    clientSecret,
    tls,
    payerDocument: PAYER_DOCUMENT,
    rejectsDuplicateOrders,
    maxProcessingMs: 20_000,
    maxAmount: cents(MAX_AMOUNT_IN_CENTS),
  });
}

export function payOrder(changes: Partial<PayOrder> = {}): PayOrder {
  return {
    endToEndId: `CDL${randomBytes(12).toString('hex').toUpperCase()}`,
    payoutId: randomUUID(),
    amount: cents(4_980_000n),
    key: '@TESTOK',
    resolutionId: null,
    payerName: 'Comercio SAS',
    ...changes,
  };
}

/** For a faulty peer: token requests get a valid answer, so that only the tested call misbehaves. */
export function afterToken(
  reply: (call: PeerCall) => PeerReply | Promise<PeerReply>,
): (call: PeerCall) => PeerReply | Promise<PeerReply> {
  return (call) =>
    call.path === '/breb/oauth/token' ? json({ access_token: 'token', expires_in: 3600 }) : reply(call);
}

function inAnHour(): Date {
  return new Date(Date.now() + 3_600_000);
}

/**
 * Where each operation of openapi.json is found in the SDK. An operation that is missing here, or one named here that
 * the API does not have, fails `npm run generate` and its check.
 */
export interface Resource {
  /** Of the client's property, in small letters; the class is `…Operations`, and what is written by hand extends it. */
  readonly name: string;
  readonly about: string;
  readonly methods: Readonly<Record<string, string>>;
  /** Operations of methods written by hand: they need more than a call. */
  readonly byHand?: Readonly<Record<string, string>>;
}

export const SURFACE: readonly Resource[] = [
  {
    name: 'Payins',
    about: 'Collect money from a payer.',
    methods: {
      create: 'createPayin',
      get: 'getPayin',
      list: 'listPayins',
      acceptAnomaly: 'acceptPayinAnomaly',
    },
  },
  {
    name: 'Payouts',
    about: 'Send money to a Bre-B key.',
    methods: { create: 'createPayout', get: 'getPayout', list: 'listPayouts', cancel: 'cancelPayout' },
  },
  {
    name: 'PaymentLinks',
    about: 'A page on which a payer pays, by the method of their choice.',
    methods: {
      create: 'createPaymentLink',
      get: 'getPaymentLink',
      list: 'listPaymentLinks',
      expire: 'expirePaymentLink',
    },
  },
  {
    name: 'Breb',
    about: 'See who receives what is sent to a Bre-B key, before it is sent.',
    methods: { lookUp: 'lookUpBrebKey' },
  },
  { name: 'Pse', about: 'Data of the PSE rail.', methods: { listBanks: 'listPseBanks' } },
  { name: 'Balance', about: 'The money we hold for you.', methods: { get: 'getBalance' } },
  { name: 'Ledger', about: 'Every movement of your money.', methods: { listEntries: 'listLedgerEntries' } },
  {
    name: 'Events',
    about: 'Every final outcome, to read, to follow live and to have sent again.',
    methods: { get: 'getEvent', list: 'listEvents', replay: 'replayEvent', replayMany: 'replayEvents' },
    byHand: { stream: 'streamEvents' },
  },
  {
    name: 'WebhookEndpoints',
    about: 'Where your events are sent, and what came of it.',
    methods: {
      create: 'createWebhookEndpoint',
      get: 'getWebhookEndpoint',
      list: 'listWebhookEndpoints',
      update: 'updateWebhookEndpoint',
      delete: 'deleteWebhookEndpoint',
      rotateSecret: 'rotateWebhookSecret',
      test: 'testWebhookEndpoint',
      listDeliveries: 'listWebhookDeliveries',
    },
  },
  {
    name: 'AccessTokens',
    about: 'Short-lived credentials, made from an API key.',
    methods: {},
    byHand: { create: 'issueAccessToken' },
  },
];

/** Signatures that say more than the schema can: which rail goes in is which rail comes out. */
export const SIGNATURES: Readonly<Record<string, { generics: string; body: string; answer: string }>> = {
  createPayin: {
    generics: '<R extends Rail>',
    body: 'CreatePayin & { rail: R }',
    answer: 'Extract<Payin, { rail: R }>',
  },
};

/** Answers whose schema is loose and whose type is written by hand, in src/event.ts. */
export const BY_HAND: Readonly<Record<string, string>> = {
  Event: 'CaudalEvent',
  EventWithDeliveries: 'CaudalEventWithDeliveries',
};

/** Parts of schemas that get a name of their own, wherever they occur: name to where one of them is. */
export const NAMED: Readonly<Record<string, string>> = {
  Rail: 'Payin.rail',
  PayinStatus: 'Payin.status',
  PayoutStatus: 'Payout.status',
  PaymentLinkStatus: 'PaymentLink.status',
  SettlementStatus: 'Payin.settlementStatus',
  ErrorCode: 'Payin.errorCode',
  IdType: 'Customer.idType',
  EventName: 'CreateWebhookEndpoint.events[]',
  EndpointStatus: 'WebhookEndpoint.status',
  ProblemCode: 'Problem.code',
  FieldError: 'Problem.errors[]',
  PageInfo: 'PayinList.pageInfo',
  Bank: 'BankList.data[]',
  LedgerAccount: 'LedgerEntry.debitAccount',
  PayoutAnomaly: 'PayoutWithAnomalies.anomalies[]',
  Delivery: 'DeliveryList.data[]',
  DeliveryWithEndpoint: 'EventWithDeliveries.deliveries[]',
  DeliveryAttempt: 'DeliveryList.data[].attempts[]',
  DeliveryError: 'DeliveryList.data[].attempts[].error',
};

/** Schemas that are one of two shapes, told apart by `rail`. */
export const BY_RAIL: readonly string[] = ['CreatePayin', 'Payin', 'PayinListItem', 'PayinWithAnomalies'];

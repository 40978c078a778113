/**
 * Maps the operations of openapi.json to SDK methods. An operation that is missing here, or does not exist in the API,
 * fails `npm run generate` and its check.
 */
export interface Resource {
  /** Name of the client property, capitalized. The generated class is `…Operations`; hand-written classes extend it. */
  readonly name: string;
  readonly about: string;
  readonly methods: Readonly<Record<string, string>>;
  /** Operations of hand-written methods, which need more than one call. */
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
    methods: {
      create: 'createPayout',
      get: 'getPayout',
      list: 'listPayouts',
      search: 'searchPayouts',
      cancel: 'cancelPayout',
    },
  },
  {
    name: 'PaymentLinks',
    about: 'Hosted pages where a payer chooses a method and pays.',
    methods: {
      create: 'createPaymentLink',
      get: 'getPaymentLink',
      list: 'listPaymentLinks',
      expire: 'expirePaymentLink',
    },
  },
  {
    name: 'Breb',
    about: 'Look up the holder of a Bre-B key before you pay it.',
    methods: {},
    byHand: { lookUp: 'createBrebKeyLookup' },
  },
  { name: 'Pse', about: 'Data of the PSE rail.', methods: { listBanks: 'listPseBanks' } },
  { name: 'Balance', about: 'Your balance.', methods: { get: 'getBalance' } },
  { name: 'Ledger', about: 'Ledger entries of your balance.', methods: { listEntries: 'listLedgerEntries' } },
  {
    name: 'Events',
    about: 'Events of final outcomes: list, stream and replay them.',
    methods: { get: 'getEvent', list: 'listEvents', replay: 'replayEvent', replayMany: 'replayEvents' },
    byHand: { stream: 'streamEvents' },
  },
  {
    name: 'WebhookEndpoints',
    about: 'Webhook endpoints and their deliveries.',
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
    about: 'Short-lived credentials, issued for an API key.',
    methods: {},
    byHand: { create: 'issueAccessToken' },
  },
];

/** Operations that the SDK does not call, because another one does the same without personal data in the URL. */
export const UNUSED: readonly string[] = ['lookUpBrebKey'];

/** Signatures that are more precise than the schema: the rail of the request is the rail of the response. */
export const SIGNATURES: Readonly<Record<string, { generics: string; body: string; result: string }>> = {
  createPayin: {
    generics: '<R extends Rail>',
    body: 'CreatePayin & { rail: R }',
    result: 'Extract<Payin, { rail: R }>',
  },
};

/** Schemas whose type has another name, because `Event` is a global type of browsers and Node. */
export const RENAMED: Readonly<Record<string, string>> = {
  Event: 'CaudalEvent',
  EventWithDeliveries: 'CaudalEventWithDeliveries',
};

/** Inline schemas that get a type name: name to the path of one occurrence. */
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
  DeliveryAttempt: 'DeliveryList.data[].attempts[]',
  DeliveryError: 'DeliveryList.data[].attempts[].error',
};

/** Schemas that are a union of two types, discriminated by `rail`. */
export const BY_RAIL: readonly string[] = [
  'CreatePayin',
  'Payin',
  'PayinListItem',
  'PayinWithAnomalies',
  'PayinConfirmedData',
  'PayinCanceledData',
  'PayinDeclinedData',
];

/** Fields that a type declares as absent, so that they can be read from a union without narrowing it. */
export const ABSENT: Readonly<Record<string, readonly string[]>> = {
  WebhookTestData: ['reference', 'status'],
};

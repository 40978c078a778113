import { AccessTokens } from './access-tokens.ts';
import { Breb } from './breb.ts';
import { Calls } from './calls.ts';
import { Events } from './events.ts';
import { BalanceOperations } from './generated/balance.ts';
import { LedgerOperations } from './generated/ledger.ts';
import { PseOperations } from './generated/pse.ts';
import { WebhookEndpointsOperations } from './generated/webhook-endpoints.ts';
import { Payins } from './payins.ts';
import { PaymentLinks } from './payment-links.ts';
import { Payouts } from './payouts.ts';
import type { Fetch } from './platform.ts';

export interface CaudalOptions {
  /** `cdl_test_…` in staging, `cdl_live_…` in production. */
  apiKey?: string | undefined;
  /** A token from `accessTokens.create`, instead of an API key. */
  accessToken?: string | undefined;
  /** URL of the server. With a `cdl_test_…` key the default is `http://127.0.0.1:8080`, the server of `npm run dev`. */
  baseUrl?: string | undefined;
  /** Retries of a call without a response, or with 429 or 503; 3 by default. */
  maxRetries?: number | undefined;
  /** Timeout of each attempt; 30 seconds by default. */
  timeoutMs?: number | undefined;
  /** Language of error texts; English by default. */
  language?: 'en' | 'es' | undefined;
  /** Custom `fetch`; the platform's by default. */
  fetch?: Fetch | undefined;
}

/** Hosts to which a live credential may go over http: a tunnel or proxy on the same machine. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
const DEV_SERVER = 'http://127.0.0.1:8080';

/**
 * A client of one Caudal server, for one organization.
 * @example
 * const caudal = new Caudal({ apiKey: 'cdl_test_…', baseUrl: 'https://payments.example.com' });
 */
export class Caudal {
  readonly payins: Payins;
  readonly payouts: Payouts;
  readonly paymentLinks: PaymentLinks;
  readonly breb: Breb;
  readonly pse: PseOperations;
  readonly balance: BalanceOperations;
  readonly ledger: LedgerOperations;
  readonly events: Events;
  readonly webhookEndpoints: WebhookEndpointsOperations;
  readonly accessTokens: AccessTokens;

  /** @throws TypeError when an option is missing or invalid */
  constructor(options: CaudalOptions) {
    checkOptions(options);
    const credential = resolveCredential(options);
    const calls = new Calls({
      baseUrl: resolveBaseUrl(options),
      credential,
      language: options.language ?? null,
      maxRetries: checkCount('maxRetries', options.maxRetries ?? 3),
      timeoutMs: checkCount('timeoutMs', options.timeoutMs ?? 30_000),
      // Called as a plain function: some platforms reject `fetch` as a method of another object.
      fetch: options.fetch ?? ((url, request) => fetch(url, request)),
    });
    this.payins = new Payins(calls);
    this.payouts = new Payouts(calls);
    this.paymentLinks = new PaymentLinks(calls);
    this.breb = new Breb(calls);
    this.pse = new PseOperations(calls);
    this.balance = new BalanceOperations(calls);
    this.ledger = new LedgerOperations(calls);
    this.events = new Events(calls);
    this.webhookEndpoints = new WebhookEndpointsOperations(calls);
    this.accessTokens = new AccessTokens(calls);
  }
}

/** A Record, so that an option missing here is a compile error. */
const OPTIONS: Readonly<Record<keyof CaudalOptions, true>> = {
  apiKey: true,
  accessToken: true,
  baseUrl: true,
  maxRetries: true,
  timeoutMs: true,
  language: true,
  fetch: true,
};

/** Programs without type checks pass a key instead of options, misspell an option, or pass nothing. */
function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(
      "new Caudal needs an object: new Caudal({ apiKey: 'cdl_test_…', baseUrl: 'https://…' })",
    );
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined)
    throw new TypeError(`new Caudal has no option ${unknown}; it has ${Object.keys(OPTIONS).join(', ')}`);
}

/** Validates the credential here: the platform's error for an invalid header would print the secret. */
function resolveCredential({ apiKey, accessToken }: CaudalOptions): readonly [string, string] {
  const credential = apiKey ?? accessToken;
  if (
    typeof credential !== 'string' ||
    credential === '' ||
    (apiKey !== undefined && accessToken !== undefined)
  )
    throw new TypeError(
      'new Caudal needs an apiKey (cdl_test_… or cdl_live_…) or an accessToken, and not both',
    );
  if (!/^[\x21-\x7e]+$/.test(credential))
    throw new TypeError('the credential contains a space, a line break or another invalid character');
  return apiKey === undefined ? ['authorization', `Bearer ${credential}`] : ['x-api-key', credential];
}

function resolveBaseUrl({ baseUrl, apiKey, accessToken }: CaudalOptions): string {
  if (baseUrl === undefined) {
    if (!(apiKey ?? accessToken)?.startsWith('cdl_test_'))
      throw new TypeError('new Caudal needs the baseUrl of your server: only a cdl_test_… key has a default');
    return DEV_SERVER;
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new TypeError(`baseUrl is not a valid http URL: ${JSON.stringify(baseUrl)}`);
  if (url.protocol === 'http:' && isLive({ apiKey, accessToken }) && !LOOPBACK.test(url.hostname))
    throw new TypeError(`a live credential requires https: ${url.origin}`);
  return url.href.replace(/\/+$/, '');
}

/** A credential for real money. */
function isLive({ apiKey, accessToken }: Pick<CaudalOptions, 'apiKey' | 'accessToken'>): boolean {
  return (apiKey ?? accessToken ?? '').startsWith('cdl_live_');
}

function checkCount(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new TypeError(`${name} must be an integer, 0 or more`);
  return value;
}

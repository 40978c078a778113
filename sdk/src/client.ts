import { AccessTokens } from './access-tokens.ts';
import { Calls } from './calls.ts';
import { Events } from './events.ts';
import { BalanceOperations } from './generated/balance.ts';
import { BrebOperations } from './generated/breb.ts';
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
  /** Instead of an API key: a token of `accessTokens.create`. */
  accessToken?: string | undefined;
  /** Where the server is. With a `cdl_test_…` key the one of `npm run dev`, `http://127.0.0.1:8080`, when left out. */
  baseUrl?: string | undefined;
  /** Repeats of a call that got no answer, or 429 or 503; 3 by default. */
  maxRetries?: number | undefined;
  /** For each attempt; 30 seconds by default. */
  timeoutMs?: number | undefined;
  /** Of the texts of problems; English by default. */
  language?: 'en' | 'es' | undefined;
  /** The platform's own by default. */
  fetch?: Fetch | undefined;
}

/** A tunnel or a proxy on the same machine. */
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
  readonly breb: BrebOperations;
  readonly pse: PseOperations;
  readonly balance: BalanceOperations;
  readonly ledger: LedgerOperations;
  readonly events: Events;
  readonly webhookEndpoints: WebhookEndpointsOperations;
  readonly accessTokens: AccessTokens;

  constructor(options: CaudalOptions) {
    const calls = new Calls({
      baseUrl: baseUrlOf(options),
      credential: credentialOf(options),
      language: options.language ?? null,
      maxRetries: countOf('maxRetries', options.maxRetries ?? 3),
      timeoutMs: countOf('timeoutMs', options.timeoutMs ?? 30_000),
      // Called as a plain function: some platforms refuse `fetch` as a method of another object.
      fetch: options.fetch ?? ((url, request) => fetch(url, request)),
    });
    this.payins = new Payins(calls);
    this.payouts = new Payouts(calls);
    this.paymentLinks = new PaymentLinks(calls);
    this.breb = new BrebOperations(calls);
    this.pse = new PseOperations(calls);
    this.balance = new BalanceOperations(calls);
    this.ledger = new LedgerOperations(calls);
    this.events = new Events(calls);
    this.webhookEndpoints = new WebhookEndpointsOperations(calls);
    this.accessTokens = new AccessTokens(calls);
  }
}

/** Looked at here, because a header that cannot be sent would be printed in the platform's error, secret and all. */
function credentialOf({ apiKey, accessToken }: CaudalOptions): readonly [string, string] {
  const given = apiKey ?? accessToken;
  if (given === undefined || given === '' || (apiKey !== undefined && accessToken !== undefined))
    throw new TypeError(
      'new Caudal needs an apiKey (cdl_test_… or cdl_live_…) or an accessToken, and not both',
    );
  if (!/^[\x21-\x7e]+$/.test(given))
    throw new TypeError('the credential holds a space, a line break or a letter that no credential has');
  return apiKey === undefined ? ['authorization', `Bearer ${given}`] : ['x-api-key', given];
}

function baseUrlOf({ baseUrl, apiKey, accessToken }: CaudalOptions): string {
  if (baseUrl === undefined) {
    if (isLive({ apiKey, accessToken }))
      throw new TypeError('new Caudal needs the baseUrl of your server: only a cdl_test_… key goes without');
    return DEV_SERVER;
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new TypeError(`baseUrl is no http address: ${JSON.stringify(baseUrl)}`);
  if (url.protocol === 'http:' && isLive({ apiKey, accessToken }) && !LOOPBACK.test(url.hostname))
    throw new TypeError(`a live credential goes over https alone, not to ${url.origin}`);
  return url.href.replace(/\/+$/, '');
}

/** Real money moves by it. */
function isLive({ apiKey, accessToken }: Pick<CaudalOptions, 'apiKey' | 'accessToken'>): boolean {
  return (apiKey ?? accessToken ?? '').startsWith('cdl_live_');
}

function countOf(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new TypeError(`${name} must be a whole number, 0 or more`);
  return value;
}

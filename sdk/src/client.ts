import { AccessTokens } from './access-tokens.ts';
import { Breb } from './breb.ts';
import { Calls } from './calls.ts';
import { type CaudalOptions, resolveOptions } from './client-options.ts';
import { Events } from './events.ts';
import { BalanceOperations } from './generated/balance.ts';
import { LedgerOperations } from './generated/ledger.ts';
import { PseOperations } from './generated/pse.ts';
import { WebhookEndpointsOperations } from './generated/webhook-endpoints.ts';
import { Payins } from './payins.ts';
import { PaymentLinks } from './payment-links.ts';
import { Payouts } from './payouts.ts';

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

  /** @throws TypeError when an option is missing, unknown or invalid */
  constructor(options: CaudalOptions) {
    const calls = new Calls(resolveOptions(options));
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

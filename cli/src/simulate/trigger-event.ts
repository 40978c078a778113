import { ApiError, type Caudal, EVENT_NAMES, type EventName } from '@caudal/sdk';
import { apiKeyMode } from '../connection/api-key.ts';
import type { Connection } from '../connection/connection.ts';
import { CliError } from '../framework/errors.ts';
import { newReference } from '../requests/creation.ts';
import { formatCents } from '../requests/pesos.ts';
import { submitCheckout } from './submit-checkout.ts';

export interface TriggerOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly amountInCents?: number | undefined;
  readonly rail?: 'BRE_B' | 'PSE' | undefined;
}

/** The created resource whose outcome will be the event. */
export interface CreatedResource {
  readonly id: string;
  readonly reference: string;
}

type Trigger = (caudal: Caudal, options: TriggerOptions) => Promise<CreatedResource>;

/** Test document numbers: the simulator decides the outcome of a payment by them. */
const PAID = '1000000001';
const DECLINED = '1000000003';
const CANCELED = '1000000005';

const DEFAULT_CENTS = 4_980_000;
const MAX_CANCEL_ATTEMPTS = 10;

/** Only requests from another network cause an event about an API key. */
export type TriggeredEvent = Exclude<EventName, 'api_key.used_from_new_network'>;

const TRIGGERS: Readonly<Record<TriggeredEvent, Trigger>> = {
  'payin.confirmed': (caudal, options) => payin(caudal, options, PAID),
  'payin.declined': (caudal, options) => payin(caudal, options, DECLINED),
  'payin.canceled': (caudal, options) => payin(caudal, options, CANCELED),
  'payout.confirmed': (caudal, options) => payout(caudal, options, '@TESTOK'),
  'payout.declined': (caudal, options) => payout(caudal, options, '@TESTDECLINED'),
  'payout.canceled': canceledPayout,
  'paymentlink.completed': completedLink,
  'paymentlink.expired': expiredLink,
};

export const TRIGGERED_EVENTS = EVENT_NAMES.filter((name): name is TriggeredEvent => name in TRIGGERS);

/** Creates a resource on a staging server whose test values lead to the event. Resolves before the event is sent. */
export function triggerEvent(
  caudal: Caudal,
  event: TriggeredEvent,
  options: TriggerOptions,
): Promise<CreatedResource> {
  return TRIGGERS[event](caudal, options);
}

/** @throws CliError for a live API key: real money */
export function rejectLiveKey({ apiKey }: Pick<Connection, 'apiKey'>): void {
  if (apiKeyMode(apiKey) === 'live') {
    throw new CliError('this is a live key: test events cannot be triggered with real money', [
      'Use a cdl_test_ key of a staging server, or caudal dev.',
    ]);
  }
}

function person(idNumber: string) {
  return {
    name: 'Ana María Rojas',
    idType: 'CO_CC' as const,
    idNumber,
    phone: '+573001234567',
    email: 'ana@example.com',
  };
}

async function payin(caudal: Caudal, options: TriggerOptions, idNumber: string): Promise<CreatedResource> {
  const common = {
    amountInCents: options.amountInCents ?? DEFAULT_CENTS,
    currency: 'COP' as const,
    reference: newReference('trigger'),
    inlineCustomer: person(idNumber),
  };
  const { id, reference } =
    options.rail === 'PSE'
      ? await caudal.payins.create(
          { ...common, rail: 'PSE', pse: { bank: await anyBank(caudal), personType: 'INDIVIDUAL' } },
          { signal: options.signal },
        )
      : await caudal.payins.create(
          { ...common, rail: 'BRE_B', breb: { keyType: 'SINGLE_USE' } },
          { signal: options.signal },
        );
  options.onProgress(
    `Created payin ${reference} of COP ${formatCents(common.amountInCents)}; its payer decides in about 3 s.`,
  );
  return { id, reference };
}

async function anyBank(caudal: Caudal): Promise<string> {
  const { data } = await caudal.pse.listBanks();
  const bank = data.find(({ available }) => available) ?? data[0];
  if (!bank) throw new CliError('PSE lists no banks');
  return bank.code;
}

async function payout(caudal: Caudal, options: TriggerOptions, keyString: string): Promise<CreatedResource> {
  const created = await newPayout(caudal, options, keyString);
  options.onProgress(`Created payout ${created.reference} to ${keyString}.`);
  return created;
}

async function newPayout(
  caudal: Caudal,
  { signal, amountInCents = 100_000 }: TriggerOptions,
  keyString: string,
): Promise<CreatedResource> {
  const { id, reference } = await caudal.payouts.create(
    {
      amountInCents,
      currency: 'COP',
      rail: 'BRE_B',
      reference: newReference('trigger'),
      inlineCustomer: person('1000000099'),
      breb: { keyString },
    },
    { signal },
  );
  return { id, reference };
}

/**
 * The cancel request races the worker that sends payouts several times per second, so several payouts are tried. The key
 * declines, so a payout that is sent moves no money.
 */
async function canceledPayout(caudal: Caudal, options: TriggerOptions): Promise<CreatedResource> {
  for (let attempt = 1; attempt <= MAX_CANCEL_ATTEMPTS; attempt += 1) {
    const created = await newPayout(caudal, options, '@TESTDECLINED');
    try {
      const { status } = await caudal.payouts.cancel(created.id, { signal: options.signal });
      if (status === 'CANCELED') {
        options.onProgress(`Created payout ${created.reference} and canceled it before it was sent.`);
        return created;
      }
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'payout_already_sent')) {
        if (error instanceof ApiError && error.code === 'payout_ended')
          throw new CliError('the balance does not cover a payout of COP 1,000', [
            'An operator deposits money: caudal ledger deposit --org ID --amount 100000 --reference TEXT --by NAME',
          ]);
        throw error;
      }
      options.onProgress(
        `Payout ${created.reference} was sent before it could be canceled and will be declined. Trying another.`,
      );
    }
  }
  throw new CliError(`${MAX_CANCEL_ATTEMPTS} payouts were sent before they could be canceled`, [
    'The server sends payouts faster than this connection can cancel them.',
    'An operator can pause the rail (caudal rails pause --rail BRE_B …): payouts then wait and can be canceled.',
  ]);
}

async function newLink(
  caudal: Caudal,
  options: TriggerOptions,
): Promise<CreatedResource & { readonly url: string }> {
  const reference = newReference('trigger');
  const rail = options.rail ?? 'BRE_B';
  const link = await caudal.paymentLinks.create(
    {
      amountType: 'FIXED',
      amountInCents: options.amountInCents ?? DEFAULT_CENTS,
      reference,
      description: 'Created by caudal trigger',
      callbackUrl: 'https://shop.example.com/thanks',
      rail,
      inlineCustomer: person(PAID),
      ...(rail === 'PSE' ? { pse: { bank: await anyBank(caudal) } } : {}),
    },
    { signal: options.signal },
  );
  return { id: link.paymentLinkId, reference, url: link.paymentLinkUrl };
}

async function completedLink(caudal: Caudal, options: TriggerOptions): Promise<CreatedResource> {
  const { url, ...created } = await newLink(caudal, options);
  options.onProgress(`Created link ${created.reference}; its payer opens ${url}`);
  await submitCheckout(url, options.signal);
  options.onProgress('The payer chose a method and pays in about 3 s.');
  return created;
}

async function expiredLink(caudal: Caudal, options: TriggerOptions): Promise<CreatedResource> {
  const { url: _url, ...created } = await newLink(caudal, options);
  await caudal.paymentLinks.expire(created.id, { signal: options.signal });
  options.onProgress(`Created link ${created.reference} and closed it.`);
  return created;
}

import { ApiError, type Caudal } from '@caudal/sdk';
import { environmentOf } from './api-key.ts';
import type { Connection } from './connection.ts';
import { newReference } from './creation.ts';
import { Fault } from './errors.ts';
import type { EventName } from './event-names.ts';
import { walkToPayment } from './payer.ts';
import { showCents } from './pesos.ts';

export interface Wishes {
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly amountInCents?: number | undefined;
  readonly rail?: 'BRE_B' | 'PSE' | undefined;
}

/** What was made, and will end in the event. */
export interface Made {
  readonly id: string;
  readonly reference: string;
}

type Maker = (caudal: Caudal, wishes: Wishes) => Promise<Made>;

/** Documents and keys by which the simulated rails know what shall become of a payment (contract: Staging). */
const PAID = '1000000001';
const DECLINED = '1000000003';
const CANCELED = '1000000005';

const USUAL_CENTS = 4_980_000;
const MOST_RACES = 10;

const MAKERS: Readonly<Record<EventName, Maker>> = {
  'payin.confirmed': (caudal, wishes) => payin(caudal, wishes, PAID),
  'payin.declined': (caudal, wishes) => payin(caudal, wishes, DECLINED),
  'payin.canceled': (caudal, wishes) => payin(caudal, wishes, CANCELED),
  'payout.confirmed': (caudal, wishes) => payout(caudal, wishes, '@TESTOK'),
  'payout.declined': (caudal, wishes) => payout(caudal, wishes, '@TESTDECLINED'),
  'payout.canceled': canceledPayout,
  'paymentlink.completed': completedLink,
  'paymentlink.expired': expiredLink,
};

/** Makes the real thing happen on a staging server, by the values its rails obey. Resolves before the event comes. */
export function triggerEvent(caudal: Caudal, event: EventName, wishes: Wishes): Promise<Made> {
  return MAKERS[event](caudal, wishes);
}

/** @throws Fault where the money would be real */
export function refuseLive({ apiKey }: Pick<Connection, 'apiKey'>): void {
  if (environmentOf(apiKey) === 'live') {
    throw new Fault('this is a live key: events are not made up where money is real', [
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

async function payin(caudal: Caudal, wishes: Wishes, idNumber: string): Promise<Made> {
  const common = {
    amountInCents: wishes.amountInCents ?? USUAL_CENTS,
    currency: 'COP' as const,
    reference: newReference('trigger'),
    inlineCustomer: person(idNumber),
  };
  const { id, reference } =
    wishes.rail === 'PSE'
      ? await caudal.payins.create(
          { ...common, rail: 'PSE', pse: { bank: await anyBank(caudal), personType: 'INDIVIDUAL' } },
          { signal: wishes.signal },
        )
      : await caudal.payins.create(
          { ...common, rail: 'BRE_B', breb: { keyType: 'SINGLE_USE' } },
          { signal: wishes.signal },
        );
  wishes.say(
    `Created payin ${reference} of COP ${showCents(common.amountInCents)}; its payer decides in about 3 s.`,
  );
  return { id, reference };
}

async function anyBank(caudal: Caudal): Promise<string> {
  const { data } = await caudal.pse.listBanks();
  const bank = data.find(({ available }) => available) ?? data[0];
  if (!bank) throw new Fault('PSE has no bank at the moment');
  return bank.code;
}

async function payout(caudal: Caudal, wishes: Wishes, keyString: string): Promise<Made> {
  const made = await newPayout(caudal, wishes, keyString);
  wishes.say(`Created payout ${made.reference} to ${keyString}.`);
  return made;
}

async function newPayout(
  caudal: Caudal,
  { signal, amountInCents = 100_000 }: Wishes,
  keyString: string,
): Promise<Made> {
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
 * A race against the sender, which takes what is due several times a second, so a few are tried. To a key that declines:
 * one that was lost moves no money.
 */
async function canceledPayout(caudal: Caudal, wishes: Wishes): Promise<Made> {
  for (let race = 1; race <= MOST_RACES; race += 1) {
    const made = await newPayout(caudal, wishes, '@TESTDECLINED');
    try {
      const { status } = await caudal.payouts.cancel(made.id, { signal: wishes.signal });
      if (status === 'CANCELED') {
        wishes.say(`Created payout ${made.reference} and canceled it before it left.`);
        return made;
      }
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'payout_already_sent')) {
        if (error instanceof ApiError && error.code === 'payout_ended')
          throw new Fault('the balance does not cover a payout of COP 1,000', [
            'An operator books money: caudal ledger deposit --org ID --amount 100000 --reference TEXT --by NAME',
          ]);
        throw error;
      }
      wishes.say(
        `Payout ${made.reference} had left before it could be canceled; it is declined. Trying another.`,
      );
    }
  }
  throw new Fault(`${MOST_RACES} payouts left before they could be canceled`, [
    'The server sends faster than this connection can cancel. On the server itself it works:',
    'an operator pauses the rail (caudal rails pause --rail BRE_B …), then payouts wait and can be canceled.',
  ]);
}

async function newLink(caudal: Caudal, wishes: Wishes): Promise<Made & { readonly url: string }> {
  const reference = newReference('trigger');
  const rail = wishes.rail ?? 'BRE_B';
  const link = await caudal.paymentLinks.create(
    {
      amountType: 'FIXED',
      amountInCents: wishes.amountInCents ?? USUAL_CENTS,
      reference,
      description: 'Made by caudal trigger',
      callbackUrl: 'https://shop.example.com/thanks',
      rail,
      inlineCustomer: person(PAID),
      ...(rail === 'PSE' ? { pse: { bank: await anyBank(caudal) } } : {}),
    },
    { signal: wishes.signal },
  );
  return { id: link.paymentLinkId, reference, url: link.paymentLinkUrl };
}

async function completedLink(caudal: Caudal, wishes: Wishes): Promise<Made> {
  const { url, ...made } = await newLink(caudal, wishes);
  wishes.say(`Created link ${made.reference}; its payer opens ${url}`);
  await walkToPayment(url, wishes.signal);
  wishes.say('The payer chose how to pay, and pays in about 3 s.');
  return made;
}

async function expiredLink(caudal: Caudal, wishes: Wishes): Promise<Made> {
  const { url: _url, ...made } = await newLink(caudal, wishes);
  await caudal.paymentLinks.expire(made.id, { signal: wishes.signal });
  wishes.say(`Created link ${made.reference} and closed it.`);
  return made;
}

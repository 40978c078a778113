import { WORDS } from '../../server/src/http/checkout/words.ts';
import { ERROR_CODES, type RailErrorCode } from '../../server/src/rails/contract.ts';
import { ERROR_CODE_WORDS } from './error-code-words.ts';
import { code, parts } from './markdown.ts';
import type { Page } from './page.ts';

type ShownToPayers = Exclude<keyof typeof WORDS.en.reasons, 'other'>;

/** For a person, where the payers' pages have no words of their own: they end otherwise, or there is no payer. */
const FOR_PEOPLE: Readonly<
  Record<Exclude<RailErrorCode, ShownToPayers>, Readonly<Record<'en' | 'es', string>>>
> = {
  EXPIRED: { en: 'The time to pay has passed.', es: 'Se acabó el tiempo para pagar.' },
  PAYER_CANCELED: { en: 'You canceled the payment.', es: 'Usted canceló el pago.' },
  PAYER_ABANDONED: { en: 'The payment was not finished.', es: 'El pago no se terminó.' },
  ACCOUNT_NOT_FOUND: { en: 'The account does not exist.', es: 'La cuenta no existe.' },
  ACCOUNT_CLOSED: { en: 'The account is closed.', es: 'La cuenta está cerrada.' },
  KEY_NOT_FOUND: { en: 'The Bre-B key does not exist.', es: 'La llave Bre-B no existe.' },
  KEY_SUSPENDED: { en: 'The Bre-B key is suspended.', es: 'La llave Bre-B está suspendida.' },
  KEY_INVALID: { en: 'That is not a Bre-B key.', es: 'Esa no es una llave Bre-B.' },
  RECEIVER_MISMATCH: {
    en: 'The key now belongs to somebody else.',
    es: 'La llave ahora es de otra persona.',
  },
  RAIL_REJECTED: { en: WORDS.en.reasons.other, es: WORDS.es.reasons.other },
};

function forPeople(each: RailErrorCode, language: 'en' | 'es'): string {
  const shown: Readonly<Record<string, string>> = WORDS[language].reasons;
  const written: Readonly<Record<string, Readonly<Record<'en' | 'es', string>>>> = FOR_PEOPLE;
  return shown[each] ?? written[each]?.[language] ?? '';
}

export function errorCodePage(): Page {
  return {
    slug: 'reference/error-codes',
    title: 'errorCode of payins and payouts',
    description:
      'Why a payin or payout ended without money, what to do, and words for a person, in English and Spanish.',
    settings: { sidebar: { label: 'errorCode' } },
    body: parts(
      'A payin or payout that ends `DECLINED` or `CANCELED` says why in `errorCode`; otherwise it is null. A request that was refused is something else: a [problem](/docs/errors), with `code`.',
      'Each has words that you can show to a person; the hosted payment pages show the same. <span lang="es">En español, debajo de cada código.</span>',
      ...ERROR_CODES.map((each) => {
        const { en, es } = ERROR_CODE_WORDS[each];
        return parts(
          `## ${code(each)}`,
          `${en.cause}<br>**What to do:** ${en.remedy}<br>**To a person:** “${forPeople(each, 'en')}”`,
          `<p lang="es">${es.cause}<br><strong>Qué hacer:</strong> ${es.remedy}<br><strong>A una persona:</strong> «${forPeople(each, 'es')}»</p>`,
        );
      }),
    ),
  };
}

import { REASONS } from '../../server/src/http/checkout/reasons.ts';
import { PAYIN_ERROR_CODES } from '../../server/src/payins/payin.columns.ts';
import { PAYOUT_ERROR_CODES } from '../../server/src/payouts/payout.columns.ts';
import { ERROR_CODE_MESSAGES } from './error-code-messages.ts';
import { code, parts } from './markdown.ts';
import type { Page } from './page.ts';

export function errorCodePage(): Page {
  return {
    slug: 'reference/error-codes',
    title: 'errorCode of payins and payouts',
    description:
      'Why a payin or payout was not confirmed, what to do, and a message for the payer, in English and Spanish.',
    settings: { sidebar: { label: 'errorCode' } },
    body: parts(
      'A payin or payout that ends `DECLINED` or `CANCELED` has the reason in `errorCode`; otherwise it is null. A rejected request is different: it returns a [problem](/docs/errors) with a `code`.',
      'Each code of a payin has a message that you can show to the payer; the hosted payment pages show the same. <span lang="es">En español, debajo de cada código.</span>',
      ...PAYIN_ERROR_CODES.map((each) => {
        const { en, es } = REASONS[each];
        return describe(each, `<br>**Message:** “${en}”`, `<br><strong>Mensaje:</strong> «${es}»`);
      }),
      ...PAYOUT_ERROR_CODES.filter((each) => !(each in REASONS)).map((each) => describe(each)),
    ),
  };
}

/** @param messages what payers see, in English and Spanish; payouts have no payer */
function describe(name: keyof typeof ERROR_CODE_MESSAGES, ...messages: readonly string[]): string {
  const { en, es } = ERROR_CODE_MESSAGES[name];
  const [message = '', mensaje = ''] = messages;
  return parts(
    `## ${code(name)}`,
    `${en.cause}<br>**What to do:** ${en.remedy}${message}`,
    `<p lang="es">${es.cause}<br><strong>Qué hacer:</strong> ${es.remedy}${mensaje}</p>`,
  );
}

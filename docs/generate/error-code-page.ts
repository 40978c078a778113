import { REASONS } from '../../server/src/http/checkout/reasons.ts';
import { PAYIN_ERROR_CODES } from '../../server/src/payins/payin.ts';
import { ERROR_CODE_WORDS } from './error-code-words.ts';
import { code, parts } from './markdown.ts';
import type { Page } from './page.ts';

export function errorCodePage(): Page {
  return {
    slug: 'reference/error-codes',
    title: 'errorCode of payins and payouts',
    description:
      'Why a payin or payout was not confirmed, what to do, and words for a person, in English and Spanish.',
    settings: { sidebar: { label: 'errorCode' } },
    body: parts(
      'A payin or payout that ends `DECLINED` or `CANCELED` says why in `errorCode`; otherwise it is null. A request that was refused is something else: a [problem](/docs/errors), with `code`.',
      'Each has words that you can show to a person; the hosted payment pages show the same. <span lang="es">En español, debajo de cada código.</span>',
      ...PAYIN_ERROR_CODES.map((each) => {
        const { en, es } = ERROR_CODE_WORDS[each];
        return parts(
          `## ${code(each)}`,
          `${en.cause}<br>**What to do:** ${en.remedy}<br>**To a person:** “${REASONS[each].en}”`,
          `<p lang="es">${es.cause}<br><strong>Qué hacer:</strong> ${es.remedy}<br><strong>A una persona:</strong> «${REASONS[each].es}»</p>`,
        );
      }),
    ),
  };
}

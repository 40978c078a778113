import { ERRORS, type ErrorCode, type Language } from '../../kit/error-catalogue.ts';

const TEXTS = {
  en: {
    retry: {
      safe: 'Safe to retry unchanged; retry a POST with the same Idempotency-Key.',
      after_change: 'Retry only after the change described here.',
      never: 'Do not retry.',
    },
    listTitle: 'All errors:',
  },
  es: {
    retry: {
      safe: 'Puede enviarla de nuevo tal como está; un POST, con la misma Idempotency-Key.',
      after_change: 'Envíela de nuevo solo después del cambio descrito aquí.',
      never: 'No la envíe de nuevo.',
    },
    listTitle: 'Todos los problemas:',
  },
} as const;

export const NOT_BUILT = `The documentation of this server is not built yet. In its repository, run:

  npm run docs

No restart is needed. Until then, /openapi.json describes the API and /docs/errors explains every error.
`;

/** Plain-text page of an error, served if the site is not built, so that a problem's `type` URL always resolves. */
export function problemText(code: string, language: Language): string | null {
  if (!Object.hasOwn(ERRORS, code)) return null;
  const { title, status, cause, remedy, retry } = ERRORS[code as ErrorCode];
  const plain = (text: string) => text.replaceAll('`', '');
  return `${title[language]}\n${code}, HTTP ${status}\n\n${plain(cause[language])}\n\n${plain(remedy[language])}\n\n${TEXTS[language].retry[retry]}\n`;
}

export function problemListText(language: Language): string {
  const lines = Object.entries(ERRORS).map(
    ([code, { status, title }]) => `  ${status}  /docs/errors/${code}  ${title[language]}`,
  );
  return `${TEXTS[language].listTitle}\n\n${lines.join('\n')}\n`;
}

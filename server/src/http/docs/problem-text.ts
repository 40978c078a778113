import { ERRORS, type ErrorCode, type Language } from '../../kit/error-catalogue.ts';

const WORDS = {
  en: {
    again: {
      safe: 'Safe to send again as it is; a POST with the same Idempotency-Key.',
      after_change: 'Send it again only after the change described here.',
      never: 'Do not send it again.',
    },
    all: 'Every problem:',
  },
  es: {
    again: {
      safe: 'Puede enviarla de nuevo tal como está; un POST, con la misma Idempotency-Key.',
      after_change: 'Envíela de nuevo solo después del cambio descrito aquí.',
      never: 'No la envíe de nuevo.',
    },
    all: 'Todos los problemas:',
  },
} as const;

export const NOT_BUILT = `The documentation of this server has not been built yet. In its repository, run:

  npm run docs

Nothing needs a restart. Until then: /openapi.json describes the API, /docs/errors explains every problem.
`;

/** A problem's page where the site is not built: `type` of a problem leads somewhere in any case. */
export function problemText(code: string, language: Language): string | null {
  if (!Object.hasOwn(ERRORS, code)) return null;
  const { title, status, cause, remedy, retry } = ERRORS[code as ErrorCode];
  const plain = (text: string) => text.replaceAll('`', '');
  return `${title[language]}\n${code}, HTTP ${status}\n\n${plain(cause[language])}\n\n${plain(remedy[language])}\n\n${WORDS[language].again[retry]}\n`;
}

export function problemListText(language: Language): string {
  const lines = Object.entries(ERRORS).map(
    ([code, { status, title }]) => `  ${status}  /docs/errors/${code}  ${title[language]}`,
  );
  return `${WORDS[language].all}\n\n${lines.join('\n')}\n`;
}

import type { Language } from '../../server/src/kit/error-catalogue.ts';

/** Whether a request may be retried: unchanged, after a correction, or never. */
type RetryAdvice = 'safe' | 'after_change' | 'never';

interface ErrorPageMessages {
  readonly catalogue: string;
  readonly catalogueLead: string;
  readonly code: string;
  readonly status: string;
  readonly retry: string;
  readonly cause: string;
  readonly remedy: string;
  readonly retryQuestion: string;
  readonly example: string;
  readonly exampleLead: string;
  readonly chip: Readonly<Record<RetryAdvice, string>>;
  readonly advice: Readonly<Record<RetryAdvice, string>>;
  readonly otherLanguage: string;
}

export const ERROR_PAGE_MESSAGES: Readonly<Record<Language, ErrorPageMessages>> = {
  en: {
    catalogue: 'Problems',
    catalogueLead:
      'Every error is a problem document (RFC 9457, `application/problem+json`). Branch on `code`: its meaning never changes. `title` and `detail` are for people and follow `Accept-Language`. Include `requestId` in support requests.',
    code: 'Code',
    status: 'HTTP status',
    retry: 'Retry',
    cause: 'What happened',
    remedy: 'What to do',
    retryQuestion: 'Can I retry the request?',
    example: 'Example response',
    exampleLead:
      'The response of the server; `type` is the URL of this page. Your program should branch on `code` only.',
    chip: { safe: 'Safe to retry', after_change: 'Retry after a change', never: 'Do not retry' },
    advice: {
      safe: 'Yes. Repeat the same request; a POST with the same `Idempotency-Key`, so that it takes effect only once. Wait for `Retry-After`, or use exponential backoff.',
      after_change:
        'Not unchanged: the same request gets the same response. Make the change described above, then send it again.',
      never: 'No. Sending it again does not change the result.',
    },
    otherLanguage: 'En español',
  },
  es: {
    catalogue: 'Problemas',
    catalogueLead:
      'Todo error es un documento de problema (RFC 9457, `application/problem+json`). Decida según `code`: su significado nunca cambia. `title` y `detail` son para personas y siguen `Accept-Language`. Cuando pida ayuda, indique el `requestId`.',
    code: 'Código',
    status: 'Estado HTTP',
    retry: 'Reintento',
    cause: 'Qué pasó',
    remedy: 'Qué hacer',
    retryQuestion: '¿Puedo enviar la solicitud de nuevo?',
    example: 'Respuesta de ejemplo',
    exampleLead:
      'Lo que responde el servidor; `type` es la dirección completa de esta página. Su programa debe decidir solo según `code`.',
    chip: {
      safe: 'Se puede reintentar',
      after_change: 'Reintente con un cambio',
      never: 'No reintente',
    },
    advice: {
      safe: 'Sí. Repita la misma solicitud; si es un POST, con la misma `Idempotency-Key`, para que tenga efecto una sola vez. Espere lo que indique `Retry-After` o un poco más cada vez.',
      after_change:
        'Así como está, no: la misma solicitud recibe la misma respuesta. Haga el cambio descrito arriba y envíela de nuevo.',
      never: 'No. Enviarla de nuevo no cambia el resultado.',
    },
    otherLanguage: 'In English',
  },
};

import type { Language } from '../../server/src/kit/error-catalogue.ts';

/** Whether the same request may be sent again: as it is, once it is mended, or not at all. */
type RetryAdvice = 'safe' | 'after_change' | 'never';

interface ErrorWords {
  readonly catalogue: string;
  readonly catalogueLead: string;
  readonly code: string;
  readonly status: string;
  readonly retry: string;
  readonly cause: string;
  readonly remedy: string;
  readonly retryPoll: string;
  readonly example: string;
  readonly exampleLead: string;
  readonly chip: Readonly<Record<RetryAdvice, string>>;
  readonly advice: Readonly<Record<RetryAdvice, string>>;
  readonly otherLanguage: string;
}

export const ERROR_WORDS: Readonly<Record<Language, ErrorWords>> = {
  en: {
    catalogue: 'Problems',
    catalogueLead:
      'Every error is a problem document (RFC 9457, `application/problem+json`). Branch on `code`: it never changes its meaning. `title` and `detail` are for people and follow `Accept-Language`. Quote `requestId` when you ask for help.',
    code: 'Code',
    status: 'HTTP status',
    retry: 'Retry',
    cause: 'What happened',
    remedy: 'What to do',
    retryPoll: 'May I send the request again?',
    example: 'Example response',
    exampleLead:
      'What the server answers; `type` is the address of this page. Your program should branch on `code` only.',
    chip: { safe: 'Safe to retry', after_change: 'Retry after a change', never: 'Do not retry' },
    advice: {
      safe: 'Yes. Repeat the same request; if it is a POST, with the same `Idempotency-Key`, so that it can take effect only once. Wait as long as `Retry-After` says, or a little longer each time.',
      after_change:
        'Not as it is: the same request gets the same answer. Make the change described above, then send it again.',
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
    retryPoll: '¿Puedo enviar la solicitud de nuevo?',
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

import type { ErrorPageEntry } from '../../../src/http/docs/error-page.ts';

export const referenceTaken: ErrorPageEntry = {
  code: 'reference_taken',
  status: 409,
  title: { en: 'The reference was already used', es: 'La referencia ya se usó' },
  cause: {
    en: 'Your organization already has a payin, payout or link with this `reference`. A reference is unique for ever within its kind.',
    es: 'Su organización ya tiene un cobro, un giro o un enlace con esta `reference`. Una referencia es única para siempre dentro de su tipo.',
  },
  remedy: {
    en: 'If you meant to repeat a request, send the same `Idempotency-Key`. Otherwise read the resource named in `existingId`, or choose another reference.',
    es: 'Si quería repetir una solicitud, envíe la misma `Idempotency-Key`. Si no, consulte el recurso indicado en `existingId` o elija otra referencia.',
  },
  retry: 'after_change',
  exampleMembers: { existingId: '0198f3a2-0000-7b54-9d0a-3f5e8c21b7d4' },
};

export const errorEntries: readonly ErrorPageEntry[] = [
  {
    code: 'service_unavailable',
    status: 503,
    title: { en: 'The service cannot answer now', es: 'El servicio no puede responder en este momento' },
    cause: {
      en: 'Load was shed, or the outcome is not known yet.',
      es: 'Hay demasiada carga o aún no se conoce el resultado.',
    },
    remedy: { en: 'Wait and repeat with the same key.', es: 'Espere y repita con la misma llave.' },
    retry: 'safe',
  },
  referenceTaken,
  {
    code: 'idempotency_in_flight',
    status: 409,
    title: { en: 'The same request is still running', es: 'La misma solicitud todavía está en curso' },
    cause: { en: 'An equal request has not finished.', es: 'Una solicitud igual no ha terminado.' },
    remedy: { en: 'Repeat in a moment.', es: 'Repita en un momento.' },
    retry: 'safe',
  },
  {
    code: 'payout_already_sent',
    status: 409,
    title: { en: 'The payout was already sent', es: 'El giro ya se envió' },
    cause: { en: 'The rail already has the order.', es: 'El riel ya tiene la orden.' },
    remedy: { en: 'Wait for its event.', es: 'Espere su evento.' },
    retry: 'never',
  },
  {
    code: 'invalid_input',
    status: 400,
    title: { en: 'The request is invalid', es: 'La solicitud no es válida' },
    cause: { en: 'One or more fields break a rule.', es: 'Uno o más campos incumplen una regla.' },
    remedy: { en: 'Mend what `errors` lists.', es: 'Corrija lo que indica `errors`.' },
    retry: 'after_change',
  },
];

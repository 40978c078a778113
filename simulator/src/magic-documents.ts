/**
 * Payer document numbers that trigger an automatic outcome on both rails. The rails and the home page use the
 * same table.
 */
export type MagicDocument = {
  readonly document: string;
  /** `left`: the payer opens the bank page and leaves it without a decision; on Bre-B the key stays unpaid. */
  readonly ends: 'paid' | 'rejected' | 'canceled' | 'refused' | 'left';
  /** A minute after the registration or creation. */
  readonly slow?: true;
  /** Bre-B: after the key was closed. PSE: after the transaction's expiry. */
  readonly late?: true;
  /** Bre-B: two payments. PSE: one payment, notified twice. */
  readonly twice?: true;
  /** Share of the registered amount. Bre-B only: a PSE transaction cannot be paid in part. */
  readonly share?: 'half' | 'double';
  /** Fault applied to the answer of the first registration or creation. */
  readonly answer?: 'lost' | 'late';
  /** No notice is sent: only a query shows the payment. */
  readonly silent?: true;
  readonly es: string;
  readonly en: string;
};

/** Delay after the registration or creation, on the simulator's clock. */
export const MAGIC_AFTER_MS = 3000;
const SLOW_AFTER_MS = 60_000;
export const SECOND_PAYMENT_AFTER_MS = 1000;
/** Delay of a late PSE approval after `expiresAt`. */
export const LATE_APPROVAL_MS = 60_000;
/** Delay of a late answer, in real time. */
export const LATE_ANSWER_MS = 4000;

export const MAGIC_DOCUMENTS: readonly MagicDocument[] = [
  { document: '1000000001', ends: 'paid', es: 'Pago completo', en: 'paid in full' },
  {
    document: '1000000003',
    ends: 'rejected',
    es: 'Pago rechazado (Bre-B 4016; PSE NOT_AUTHORIZED, motivo 11)',
    en: 'rejected (Bre-B 4016; PSE NOT_AUTHORIZED, reason 11)',
  },
  {
    document: '1000000005',
    ends: 'canceled',
    es: 'El pagador desiste (PSE NOT_AUTHORIZED, motivo 1)',
    en: 'canceled by the payer (PSE NOT_AUTHORIZED, reason 1)',
  },
  {
    document: '1000000007',
    ends: 'paid',
    late: true,
    es: 'Pago tardío: Bre-B, 3 s después de cerrar la llave; PSE, 60 s después del vencimiento',
    en: 'paid late: Bre-B, 3 s after the key was closed; PSE, 60 s after its expiry',
  },
  {
    document: '1000000009',
    ends: 'paid',
    twice: true,
    es: 'Bre-B: dos pagos. PSE: un pago, avisado dos veces',
    en: 'Bre-B: paid twice; PSE: paid once, notified twice',
  },
  {
    document: '1000000011',
    ends: 'paid',
    share: 'half',
    es: 'Bre-B: paga la mitad. PSE: pago completo',
    en: 'Bre-B: pays half; PSE: paid in full',
  },
  {
    document: '1000000013',
    ends: 'paid',
    share: 'double',
    es: 'Bre-B: paga el doble. PSE: pago completo',
    en: 'Bre-B: pays twice the amount; PSE: paid in full',
  },
  {
    document: '1000000015',
    ends: 'paid',
    answer: 'lost',
    es: 'La primera respuesta se pierde; luego, pago completo',
    en: 'first response lost, then paid',
  },
  {
    document: '1000000017',
    ends: 'paid',
    answer: 'late',
    es: 'La primera respuesta llega 4 s tarde; luego, pago completo',
    en: 'first response 4 s late, then paid',
  },
  {
    document: '1000000019',
    ends: 'paid',
    silent: true,
    es: 'Pago completo cuyo aviso nunca llega',
    en: 'paid, but no notification is sent',
  },
  {
    document: '1000000021',
    ends: 'refused',
    es: 'Banco caído: PSE FAIL_BANKUNREACHEABLE; Bre-B niega el registro con 4016',
    en: 'bank down: PSE FAIL_BANKUNREACHEABLE; Bre-B rejects the registration with 4016',
  },
  {
    document: '1000000023',
    ends: 'left',
    es: 'PSE: abre la página del banco y se va sin decidir; PSE lo termina a los 25 minutos. Bre-B: la llave queda sin pagar',
    en: 'PSE: opens the bank page and leaves without a decision; PSE ends it after 25 minutes. Bre-B: the key stays unpaid',
  },
  {
    document: '1000000025',
    ends: 'paid',
    slow: true,
    es: 'Pago completo, 60 s después: el pagador vuelve antes al comercio',
    en: 'paid in full after 60 s: the payer returns to the shop before',
  },
];

/** Delay of the payer's action, unless it is late. */
export function magicDelayMs({ slow }: MagicDocument): number {
  return slow === true ? SLOW_AFTER_MS : MAGIC_AFTER_MS;
}

const BY_DOCUMENT = new Map(MAGIC_DOCUMENTS.map((magic) => [magic.document, magic]));

export function findMagic(
  payer: { readonly documentNumber: string } | null | undefined,
): MagicDocument | null {
  return payer === null || payer === undefined ? null : (BY_DOCUMENT.get(payer.documentNumber) ?? null);
}

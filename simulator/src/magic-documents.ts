/**
 * Payers' documents that make something happen by itself, on both rails. Data, because the home page shows
 * the same table that the rails obey.
 */
export type Magic = {
  readonly document: string;
  readonly ends: 'paid' | 'rejected' | 'canceled' | 'refused';
  /** Bre-B: after the key was closed. PSE: after the transaction's expiry. */
  readonly late?: true;
  /** Bre-B: two payments. PSE: one, told twice. */
  readonly twice?: true;
  /** Of the registered amount, Bre-B only: a PSE transaction cannot be paid by part. */
  readonly share?: 'half' | 'double';
  /** What happens to the answer of the first registration or creation. */
  readonly answer?: 'lost' | 'late';
  /** Nobody is told: only a query shows the payment. */
  readonly silent?: true;
  readonly es: string;
  readonly en: string;
};

/** How long after the registration or the creation, on the simulator's clock. */
export const MAGIC_AFTER_MS = 3000;
export const SECOND_PAYMENT_AFTER_MS = 1000;
/** How long after `expiresAt` a late PSE approval comes. */
export const LATE_APPROVAL_MS = 60_000;
/** How late a late answer is, in real time. */
export const LATE_ANSWER_MS = 4000;

export const MAGIC_DOCUMENTS: readonly Magic[] = [
  { document: '1000000001', ends: 'paid', es: 'Pago completo', en: 'paid in full' },
  {
    document: '1000000003',
    ends: 'rejected',
    es: 'Pago rechazado (Bre-B 4016; PSE NOT_AUTHORIZED, motivo 11)',
    en: 'rejected',
  },
  {
    document: '1000000005',
    ends: 'canceled',
    es: 'Cancelado por el pagador (PSE NOT_AUTHORIZED, motivo 1)',
    en: 'canceled by the payer',
  },
  {
    document: '1000000007',
    ends: 'paid',
    late: true,
    es: 'Pago tardío: Bre-B, 3 s después de cerrar la llave; PSE, 60 s después del vencimiento',
    en: 'paid late',
  },
  {
    document: '1000000009',
    ends: 'paid',
    twice: true,
    es: 'Bre-B: dos pagos. PSE: un pago, avisado dos veces',
    en: 'paid twice; on PSE told twice',
  },
  {
    document: '1000000011',
    ends: 'paid',
    share: 'half',
    es: 'Bre-B: paga la mitad. PSE: pago completo',
    en: 'underpaid',
  },
  {
    document: '1000000013',
    ends: 'paid',
    share: 'double',
    es: 'Bre-B: paga el doble. PSE: pago completo',
    en: 'overpaid',
  },
  {
    document: '1000000015',
    ends: 'paid',
    answer: 'lost',
    es: 'La primera respuesta se pierde; luego, pago completo',
    en: 'first answer lost, then paid',
  },
  {
    document: '1000000017',
    ends: 'paid',
    answer: 'late',
    es: 'La primera respuesta llega 4 s tarde; luego, pago completo',
    en: 'first answer 4 s late, then paid',
  },
  {
    document: '1000000019',
    ends: 'paid',
    silent: true,
    es: 'Pago completo cuyo aviso nunca llega',
    en: 'paid, but no notice comes',
  },
  {
    document: '1000000021',
    ends: 'refused',
    es: 'Banco caído: PSE FAIL_BANKUNREACHEABLE; Bre-B niega el registro con 4016',
    en: 'bank down',
  },
];

const BY_DOCUMENT = new Map(MAGIC_DOCUMENTS.map((magic) => [magic.document, magic]));

export function magicOf(payer: { readonly documentNumber: string } | null | undefined): Magic | null {
  return payer === null || payer === undefined ? null : (BY_DOCUMENT.get(payer.documentNumber) ?? null);
}

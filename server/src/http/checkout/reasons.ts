import type { Language } from '../../kit/error-catalogue.ts';
import type { PayinErrorCode } from '../../payins/payin.ts';

/** The text of each `errorCode`, shown to payers; the docs show the same texts to merchants. */
export const REASONS: Readonly<Record<PayinErrorCode, Readonly<Record<Language, string>>>> = {
  EXPIRED: {
    es: 'Se acabó el tiempo para pagar.',
    en: 'The time to pay has passed.',
  },
  PAYER_CANCELED: {
    es: 'Usted detuvo el pago.',
    en: 'You stopped the payment.',
  },
  PAYER_ABANDONED: {
    es: 'El pago no se terminó.',
    en: 'The payment was not finished.',
  },
  INSUFFICIENT_FUNDS: {
    es: 'La cuenta no tenía saldo suficiente.',
    en: 'The account did not have enough money.',
  },
  LIMIT_EXCEEDED: {
    es: 'El valor supera el límite de su banco para estos pagos.',
    en: 'The amount is above your bank’s limit for these payments.',
  },
  NETWORK_LIMIT_EXCEEDED: {
    es: 'El valor supera el límite de la red para estos pagos.',
    en: 'The amount is above the network’s limit for these payments.',
  },
  ACCOUNT_BLOCKED: {
    es: 'La cuenta está bloqueada. Hable con su banco.',
    en: 'The account is blocked. Talk to your bank.',
  },
  ACCOUNT_NOT_FOUND: {
    es: 'La cuenta no existe.',
    en: 'The account does not exist.',
  },
  ACCOUNT_CLOSED: {
    es: 'La cuenta está cerrada.',
    en: 'The account is closed.',
  },
  KEY_NOT_FOUND: {
    es: 'La llave Bre-B no existe.',
    en: 'The Bre-B key does not exist.',
  },
  KEY_SUSPENDED: {
    es: 'La llave Bre-B está suspendida.',
    en: 'The Bre-B key is suspended.',
  },
  KEY_INVALID: {
    es: 'Esa no es una llave Bre-B.',
    en: 'That is not a Bre-B key.',
  },
  RECEIVER_MISMATCH: {
    es: 'La llave ahora es de otra persona.',
    en: 'The key now belongs to somebody else.',
  },
  BANK_UNAVAILABLE: {
    es: 'Su banco no está disponible en este momento.',
    en: 'Your bank is not available right now.',
  },
  RAIL_TIMEOUT: {
    es: 'Su banco no respondió a tiempo.',
    en: 'Your bank did not answer in time.',
  },
  RAIL_REJECTED: {
    es: 'El banco no informó el motivo.',
    en: 'The bank gave no reason.',
  },
  SUSPECTED_FRAUD: {
    es: 'Su banco detuvo el pago por seguridad. Hable con su banco.',
    en: 'Your bank stopped the payment for safety. Talk to your bank.',
  },
  INVALID_DATA: {
    es: 'El banco no reconoció los datos. Revíselos e intente de nuevo.',
    en: 'The bank did not recognize the details. Check them and try again.',
  },
  UNDERPAID: {
    es: 'Llegó menos del valor cobrado. Su dinero no se ha perdido.',
    en: 'Less than the amount arrived. Your money is not lost.',
  },
};

export type Reasons = Readonly<Record<PayinErrorCode, string>>;

export function getReasons(language: Language): Reasons {
  const entries = Object.entries(REASONS).map(([code, texts]) => [code, texts[language]]);
  return Object.fromEntries(entries) as Reasons;
}

import type { Language, Text } from '../pages/language.ts';

/** PSE decline reasons by number. The bank page offers them for a rejection. */
export const DECLINE_REASONS: ReadonlyMap<string, Text> = new Map([
  ['11', { es: 'Fondos insuficientes', en: 'Insufficient funds' }],
  ['2', { es: 'Cuenta embargada', en: 'Account seized' }],
  ['3', { es: 'Cuenta inactiva', en: 'Account inactive' }],
  ['4', { es: 'La cuenta no existe', en: 'Account does not exist' }],
  ['5', { es: 'Cuenta no habilitada', en: 'Account not enabled' }],
  ['6', { es: 'Cuenta no asignada', en: 'Account not assigned' }],
  ['7', { es: 'Cuenta saldada', en: 'Account settled and closed' }],
  ['8', { es: 'Supera el tope permitido', en: 'Limit exceeded' }],
  ['12', { es: 'Datos inconsistentes', en: 'Inconsistent data' }],
  ['13', { es: 'Cuenta cancelada', en: 'Account closed' }],
  ['16', { es: 'Ingreso no válido', en: 'Invalid login' }],
  ['17', { es: 'Servicio no activo', en: 'Service not active' }],
]);

/** Reasons the bank page does not offer. */
const OTHER_REASONS: ReadonlyMap<string, Text> = new Map([
  ['1', { es: 'El pagador desistió', en: 'Canceled by the payer' }],
  ['9', { es: 'Entidad no disponible', en: 'Bank unavailable' }],
  ['10', { es: 'Falla técnica', en: 'Technical failure' }],
  ['14', { es: 'Se venció el tiempo para pagar', en: 'The time to pay has passed' }],
  ['15', { es: 'El pagador no terminó el pago', en: 'The payer did not finish the payment' }],
]);

export const PAYER_CANCELED = '1';

export function reasonText(reason: string, language: Language): string {
  const text = DECLINE_REASONS.get(reason) ?? OTHER_REASONS.get(reason);
  const word = { es: 'motivo', en: 'reason' }[language];
  return text === undefined ? `${word} ${reason}` : `${text[language]} (${word} ${reason})`;
}

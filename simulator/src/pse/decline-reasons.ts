/** PSE decline reasons by number. The bank page offers them for a rejection. */
export const DECLINE_REASONS: ReadonlyMap<string, string> = new Map([
  ['11', 'Fondos insuficientes'],
  ['2', 'Cuenta embargada'],
  ['3', 'Cuenta inactiva'],
  ['4', 'La cuenta no existe'],
  ['5', 'Cuenta no habilitada'],
  ['6', 'Cuenta no asignada'],
  ['7', 'Cuenta saldada'],
  ['8', 'Supera el tope permitido'],
  ['12', 'Datos inconsistentes'],
  ['13', 'Cuenta cancelada'],
  ['16', 'Ingreso no válido'],
  ['17', 'Servicio no activo'],
]);

/** Reasons the bank page does not offer. */
const OTHER_REASONS: ReadonlyMap<string, string> = new Map([
  ['1', 'Cancelado por el pagador'],
  ['9', 'Entidad no disponible'],
  ['10', 'Falla técnica'],
  ['14', 'Se venció el tiempo para pagar'],
  ['15', 'El pagador no terminó el pago'],
]);

export const PAYER_CANCELED = '1';

export function reasonText(reason: string): string {
  const text = DECLINE_REASONS.get(reason) ?? OTHER_REASONS.get(reason);
  return text === undefined ? `Motivo ${reason}` : `${text} (motivo ${reason})`;
}

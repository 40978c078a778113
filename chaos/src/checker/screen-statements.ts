/** What one screen said about money. Amounts are in cents. */
export interface ScreenStatements {
  /** What kind of screen it is; null for an unknown one, which the checker reports. */
  readonly kind: ScreenKind | null;
  /** No money was charged. */
  readonly nothingCharged: boolean;
  /** `Recibimos {received} de {amount}`. */
  readonly parts: { readonly received: bigint; readonly amount: bigint } | null;
  /** What is missing. */
  readonly missing: bigint | null;
  /** The exact amount that the payer is asked to pay. */
  readonly asked: bigint | null;
  /** Payments that arrived late or again, and amounts paid in excess. */
  readonly late: readonly bigint[];
  readonly again: readonly bigint[];
  readonly excess: readonly bigint[];
}

/** `start`: invites to begin a payment. `waiting`: an attempt is open. `ended`: the attempt ended without money. */
type ScreenKind =
  | 'start'
  | 'key'
  | 'waiting'
  | 'parts'
  | 'completed'
  | 'completed_by_other'
  | 'held'
  | 'ended'
  | 'link_expired'
  | 'unavailable'
  | 'error';

const TITLES: readonly [RegExp, ScreenKind][] = [
  [/^(¿Cómo quiere pagar\?|Pague con Bre-B|Elija su banco|Sus datos)$/, 'start'],
  [/^(Pague con esta llave|Escanee con la app de su banco)$/, 'key'],
  [/^(Abriendo .*…|¿Alcanzó a autorizar el pago en .*\?|Su banco está confirmando el pago)$/, 'waiting'],
  [/^(Hay un pago en curso|Un momento…)$/, 'waiting'],
  [/^Recibimos \$\s[\d.,]+ de \$\s[\d.,]+$/, 'parts'],
  [/^Pago recibido$/, 'completed'],
  [/^Este pago ya fue realizado$/, 'completed_by_other'],
  [/^(Su pago de .* llegó tarde|Recibimos otro pago de .*)$/, 'held'],
  [/^(Su banco no aprobó el pago|No pudimos conectarnos con su banco|El pago no se completó)$/, 'ended'],
  [/^(La llave venció|PSE no está disponible en este momento|El valor está fuera de los límites)$/, 'ended'],
  [/^Este link de pago venció$/, 'link_expired'],
  [/^(No se puede pagar en este momento|Este valor no se puede pagar en línea)$/, 'unavailable'],
  [/^(No pudimos consultar su pago|Demasiados intentos)$/, 'error'],
];

const MONEY = String.raw`\$\s([\d.]+)(?:,(\d\d))?`;

/** Reads the Spanish text of a screen, one line per element. */
export function readStatements(text: string): ScreenStatements {
  const [title = ''] = text.split('\n');
  const amounts = (pattern: string) =>
    [...text.matchAll(new RegExp(pattern.replaceAll('{money}', MONEY), 'gu'))].map(([, ...groups]) =>
      Array.from({ length: groups.length / 2 }, (_, index) =>
        cents(groups[2 * index], groups[2 * index + 1]),
      ),
    );
  const first = (pattern: string) => amounts(pattern)[0]?.[0] ?? null;
  const all = (pattern: string) =>
    amounts(pattern).flatMap(([amount]) => (amount === undefined ? [] : [amount]));
  const [[received, amount] = []] = amounts('^Recibimos {money} de {money}');
  return {
    kind: TITLES.find(([pattern]) => pattern.test(title))?.[1] ?? null,
    nothingCharged: /ningún cobro|no se (hizo|movió) (ningún|dinero)|no se cobró/iu.test(text),
    parts: received === undefined || amount === undefined ? null : { received, amount },
    missing: first('Faltan {money}'),
    asked: first('Escriba el valor exacto: {money}'),
    late: [...all('Recibimos {money} tarde'), ...all('Su pago de {money} llegó tarde')],
    again: all('Recibimos otro pago de {money}'),
    excess: all('Recibimos {money} de más'),
  };
}

function cents(whole = '', rest = '00'): bigint {
  return BigInt(whole.replaceAll('.', '')) * 100n + BigInt(rest);
}

import type { Line } from './corruption.ts';
import type { LinkCorruption } from './link-corruptions.ts';

/** Titles of the recorded screens: the run pays a link in full, another by half and a third twice over. */
const KEY = 'Pague con esta llave';
const PAID = 'Pago recibido';
const HALF = 'Recibimos';
const NOTHING = 'La llave venció\nNo se hizo ningún cobro.';

/** Changes one recorded screen whose text contains these words. */
function changeScreen(words: string, change: (screen: Line) => object) {
  return (lines: readonly Line[]): readonly Line[] => {
    const at = lines.findIndex(({ kind, text }) => kind === 'screen' && String(text).includes(words));
    if (at === -1) throw new Error(`no screen says ${words}`);
    return lines.map((line, index) => (index === at ? { ...line, ...change(line) } : line));
  };
}

function screenCorruption(
  name: string,
  detail: string,
  words: string,
  change: (screen: Line) => object,
): LinkCorruption {
  return { name, invariant: 'screens_are_true', detail, client: changeScreen(words, change) };
}

const replaceText = (from: string | RegExp, to: string) => (screen: Line) => ({
  text: String(screen['text']).replace(from, to),
});

/** Corruptions of the recorded screens of a correct run. */
export const SCREEN_CORRUPTIONS: readonly LinkCorruption[] = [
  screenCorruption('a screen has an unknown title', 'a screen with an unknown title', PAID, () => ({
    text: 'Gracias',
  })),
  screenCorruption(
    'an error page says that nothing was charged',
    'an error page says that nothing was charged',
    KEY,
    () => ({ status: 503, text: 'No pudimos consultar su pago\nNo se movió dinero.' }),
  ),
  screenCorruption(
    'a screen denies a payment that is posted',
    'says that nothing was charged, but a payment is posted',
    HALF,
    () => ({ text: NOTHING }),
  ),
  screenCorruption(
    'a screen denies a payment that the rail has executed',
    'says that nothing was charged, but the rail has a payment',
    HALF,
    () => ({ text: NOTHING, before: [] }),
  ),
  screenCorruption('a screen forgets a part', 'forgets a part that was paid', HALF, () => ({
    text: '¿Cómo quiere pagar?',
  })),
  screenCorruption(
    'a screen states another received amount',
    'states another received amount than the ledger',
    HALF,
    replaceText(/Recibimos \$\s24\.900/, 'Recibimos $ 24.901'),
  ),
  screenCorruption(
    'a screen states a part before it is posted',
    'states another received amount than the ledger',
    HALF,
    () => ({ before: [], after: [] }),
  ),
  screenCorruption(
    'a screen states another amount than the link',
    'states another amount than the link',
    HALF,
    replaceText(/de \$\s49\.800/, 'de $ 49.801'),
  ),
  screenCorruption(
    'a screen states another missing amount',
    'states another missing amount',
    HALF,
    replaceText(/Faltan \$\s24\.900/, 'Faltan $ 24.901'),
  ),
  screenCorruption(
    'a screen says that an unpaid link is paid',
    'says that the link is paid, but it is not',
    KEY,
    () => ({ text: PAID }),
  ),
  screenCorruption('a screen asks again for a paid link', 'does not say that the link is paid', PAID, () => ({
    text: '¿Cómo quiere pagar?',
  })),
  screenCorruption(
    'a screen mentions an excess before it is posted',
    'mentions a payment that is not posted: overpaid',
    'de más',
    ({ after }) => ({
      before: [],
      after: (after as readonly string[]).filter((posting) => posting.startsWith('payment ')),
    }),
  ),
  screenCorruption(
    'a screen does not mention an excess',
    'does not mention a payment: overpaid',
    'de más',
    () => ({ text: PAID }),
  ),
  screenCorruption(
    'a screen asks for another amount than its attempt',
    'asks for another amount than its attempt',
    KEY,
    replaceText(/exacto: \$\s49\.800/, 'exacto: $ 49.801'),
  ),
  screenCorruption(
    'a screen shows the key of another link',
    'shows a key that is not of the link',
    KEY,
    () => ({
      key: '@OTHER',
    }),
  ),
  {
    name: 'a screen shows the key of a paid attempt',
    invariant: 'screens_are_true',
    detail: 'asks to pay a paid attempt',
    client: (lines) => {
      const paid = lines.find(({ kind, text }) => kind === 'screen' && String(text).includes(HALF));
      const isKey = ({ kind, text, linkId }: Line) =>
        kind === 'screen' && linkId === paid?.['linkId'] && String(text).includes(KEY);
      return lines.map((line) =>
        isKey(line) ? { ...line, before: paid?.['before'], after: paid?.['after'] } : line,
      );
    },
  },
];

import type { FastifyInstance } from 'fastify';
import { keyStatus } from '../breb/key-status.ts';
import { TEST_KEYS } from '../breb/test-keys.ts';
import type { Deps } from '../deps.ts';
import { MAGIC_DOCUMENTS } from '../magic-documents.ts';
import { BANKS } from '../pse/banks.ts';
import type { State } from '../state.ts';
import { HOME_TEXTS } from './home.texts.ts';
import { escapeHtml, formatPesos, sendPage } from './html.ts';
import { type Language, readLanguage, type Text } from './language.ts';

const MAX_LISTED = 10;

const CONTROL = [
  'POST /control/keys/pay',
  'POST /control/keys/pay-late',
  'POST /control/keys/end',
  'POST /control/transactions/end',
  'POST /control/transactions/leave',
  'POST /control/transactions/abandon',
  'POST /control/orders/end',
  'POST /control/directory',
  'POST /control/notices/target',
  'POST /control/time',
  'GET /control/time',
  'POST /control/faults',
  'GET /control/faults',
  'DELETE /control/faults/:id',
  'DELETE /control/faults',
  'GET /control/keys/:key',
  'GET /control/transactions/:reference',
  'GET /control/orders/:endToEndId',
  'GET /control/payments',
  'GET /control/executions',
  'GET /control/stats',
];

/** Requests for payers whom no test document describes. */
const PAYERS: readonly (readonly [request: string, text: Text])[] = [
  [
    'POST /control/keys/pay {"payments":[{"key":"@CDL…","amount":"30000.00"}]}',
    { es: 'paga otro valor', en: 'pays another amount' },
  ],
  [
    'POST /control/keys/pay {"payments":[{"key":"@CDL…","times":2}]}',
    { es: 'paga dos veces', en: 'pays twice' },
  ],
  [
    'POST /control/keys/pay-late {"key":"@CDL…"}',
    { es: 'paga cuando la llave ya está cerrada', en: 'pays when the key is already closed' },
  ],
  [
    'POST /control/transactions/leave {"reference":"…","approvesInMs":60000}',
    {
      es: 'se va del banco, que autoriza después; sin approvesInMs no se decide nada',
      en: 'leaves the bank, which approves later; without approvesInMs nothing is decided',
    },
  ],
  [
    'POST /control/transactions/abandon {"reference":"…"}',
    {
      es: 'se va del banco, y PSE termina el pago sin esperar 25 minutos',
      en: 'leaves the bank, and PSE ends the payment without waiting 25 minutes',
    },
  ],
];

export function homePage(app: FastifyInstance, { state, journal }: Deps): void {
  app.get('/', async (request, reply) => {
    await journal.synced();
    const language = readLanguage(request);
    return sendPage(request, reply, { title: HOME_TEXTS[language].title, body: page(state, language) });
  });
}

function page(state: State, language: Language): string {
  const texts = HOME_TEXTS[language];
  const explained = (value: string, text: Text) => `${code(value)}<span>${escapeHtml(text[language])}</span>`;
  const documents = MAGIC_DOCUMENTS.map((magic) => explained(magic.document, magic));
  const payers = PAYERS.map(([request, text]) => explained(request, text));
  const testKeys = [...TEST_KEYS.values()].map((testKey) => explained(testKey.key, testKey));
  return `<h1>${texts.title}</h1>
<p>${texts.intro}</p>
<a class="button main" href="pagar">${texts.pay}</a>
${waiting(texts.keys, waitingKeys(state), texts.empty)}
${waiting(texts.transactions, waitingTransactions(state), texts.empty)}
${section(texts.documents, documents, texts.documentsText)}
${section(texts.payers, payers, texts.payersText)}
${section(texts.testKeys, testKeys, texts.testKeysText)}
${section(texts.control, CONTROL.map(code))}`;
}

/** `items` contain escaped HTML. */
function section(title: string, items: readonly string[], text = ''): string {
  const intro = text === '' ? '' : `<p class="quiet">${text}</p>`;
  const list = items.map((item) => `<li>${item}</li>`).join('\n');
  return `<section><h2>${title}</h2>${intro}${list === '' ? '' : `<ul class="list">${list}</ul>`}</section>`;
}

function waiting(title: string, items: readonly string[], empty: string): string {
  return section(title, items, items.length === 0 ? empty : '');
}

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

const quiet = (text: string): string => `<span class="quiet">${escapeHtml(text)}</span>`;

function waitingKeys({ keys }: State): string[] {
  const items: string[] = [];
  for (const key of keys.recent.toReversed()) {
    const record = keys.byKey.get(key);
    if (keyStatus(record) !== 'REGISTERED' || (record?.payments.length ?? 0) > 0) continue;
    const amount = formatPesos(record?.registration?.amount ?? '0.00');
    items.push(`<a href="pagar?key=${encodeURIComponent(key)}">${escapeHtml(key)}</a>${quiet(amount)}`);
    if (items.length === MAX_LISTED) break;
  }
  return items;
}

function waitingTransactions({ transactions }: State): string[] {
  return transactions.recent
    .toReversed()
    .filter(({ state }) => state === 'PENDING')
    .slice(0, MAX_LISTED)
    .map(({ transactionId, secret, bankCode, amount, description }) => {
      const bank = BANKS.get(bankCode) ?? bankCode;
      const text = `${formatPesos(amount)} · ${description}`;
      return `<a href="bank/${transactionId}?t=${secret}">${escapeHtml(bank)}</a>${quiet(text)}`;
    });
}

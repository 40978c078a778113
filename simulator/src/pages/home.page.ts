import type { FastifyInstance } from 'fastify';
import { keyStatus } from '../breb/key-status.ts';
import { TEST_KEYS } from '../breb/test-keys.ts';
import type { Deps } from '../deps.ts';
import { MAGIC_DOCUMENTS } from '../magic-documents.ts';
import { BANKS } from '../pse/banks.ts';
import type { State } from '../state.ts';
import { escapeHtml, formatPesos, sendPage } from './html.ts';

const MAX_LISTED = 10;

const EMPTY = 'Nada por ahora.';
const MAGIC_TEXT =
  'Con uno de estos números como documento del pagador, el pago termina por sí solo unos 3 s después, en Bre-B y en PSE.';

const TEST_KEYS_TEXT =
  'Así termina un pago enviado a cada una, alrededor de 1 s después de recibida la orden.';

const CONTROL = [
  'POST /control/keys/pay',
  'POST /control/keys/end',
  'POST /control/transactions/end',
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

export function homePage(app: FastifyInstance, { state, journal }: Deps): void {
  app.get('/', async (_request, reply) => {
    await journal.synced();
    return sendPage(reply, 200, 'Simulador de Caudal', page(state));
  });
}

function page(state: State): string {
  return `<h1>Simulador de Caudal</h1>
<p>Hace de nodo Bre-B y de PSE para desarrollo y pruebas.
<span lang="en" class="quiet">Plays the Bre-B node and PSE for development and tests.</span></p>
<a class="button main" href="pagar">Pagar una llave Bre-B</a>
${section('Llaves que esperan su pago', waitingKeys(state), EMPTY)}
${section('Pagos PSE que esperan en el banco', waitingTransactions(state), EMPTY)}
${section('Documentos mágicos', magicDocuments(), MAGIC_TEXT)}
${section('Llaves de prueba para pagos enviados', testKeys(), TEST_KEYS_TEXT)}
${section('Interfaz de control (solo en esta máquina)', CONTROL.map(code))}`;
}

/** `items` contain escaped HTML. */
function section(title: string, items: readonly string[], text = ''): string {
  const list = items.map((item) => `<li>${item}</li>`).join('\n');
  const intro = text === '' || (text === EMPTY && items.length > 0) ? '' : `<p class="quiet">${text}</p>`;
  return `<section><h2>${escapeHtml(title)}</h2>${intro}<ul class="list">${list}</ul></section>`;
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

function magicDocuments(): string[] {
  return MAGIC_DOCUMENTS.map(({ document, es, en }) => explained(document, es, en));
}

function testKeys(): string[] {
  return [...TEST_KEYS.values()].map(({ key, es, en }) => explained(key, es, en));
}

function explained(value: string, es: string, en: string): string {
  return `${code(value)}<span>${escapeHtml(es)}</span><span lang="en" class="quiet">${escapeHtml(en)}</span>`;
}

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { endKey } from '../breb/end-key.ts';
import { keyStatus } from '../breb/key-status.ts';
import { readKey } from '../breb/key-type.ts';
import { payKey } from '../breb/pay-key.ts';
import type { Deps } from '../deps.ts';
import { readBody } from '../request-body.ts';
import { escapeHtml, facts, formatPesos, sendPage } from './html.ts';

type FormResult = { readonly good: boolean; readonly title: string; readonly text: string };

const payForm = z.object({
  key: z.string().min(1).max(100),
  amount: z.string().max(30).default(''),
  decision: z.enum(['pay', 'reject', 'cancel']),
  anyway: z.literal('on').optional(),
});

type PayForm = z.infer<typeof payForm>;

/** The payer's bank app: pays any key with any amount. */
export function payPage(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: { key?: string | string[] } }>('/pagar', async (request, reply) => {
    await deps.journal.synced();
    const { key: text } = request.query;
    const key = typeof text === 'string' && text.trim() !== '' ? normalizeKey(text) : null;
    return sendPage(reply, 200, TITLE, page(deps, key, null));
  });

  app.post('/pagar', async (request, reply) => {
    const form = readBody(payForm, request);
    const key = normalizeKey(form.key);
    const formResult =
      form.decision === 'pay' ? await submitPayment(deps, key, form) : await submitEnd(deps, key, form);
    return sendPage(reply, 200, TITLE, page(deps, key, formResult));
  });
}

const TITLE = 'Pagar una llave Bre-B';

/** Normalizes a key as the directory does: people type lower-case letters. */
function normalizeKey(text: string): string {
  return readKey(text.trim())?.key ?? text.trim();
}

async function submitPayment(deps: Deps, key: string, form: PayForm): Promise<FormResult> {
  const amount = readAmount(form.amount);
  if (amount === null) return failure('Escriba el valor en pesos, por ejemplo 49800 o 49800,50.');
  const result = await payKey(deps, { key, amount, anyway: form.anyway !== undefined });
  if (!('code' in result)) {
    const text = `Ejecución ${result.executionId}. Punta a punta ${result.endToEndId}.`;
    return { good: true, title: 'Pago hecho', text };
  }
  return failure(
    result.code === '0004'
      ? 'La llave no existe, está cerrada o su pago ya terminó (0004).'
      : 'La llave no dice cuánto se paga: escriba el valor.',
  );
}

async function submitEnd(deps: Deps, key: string, { decision, anyway }: PayForm): Promise<FormResult> {
  const outcome = decision === 'reject' ? 'REJECTED' : 'CANCELED';
  const ended = await endKey(deps, { key, outcome, anyway: anyway !== undefined });
  if (!ended)
    return failure('No queda nada por terminar: la llave no existe, está cerrada, terminó o ya fue pagada.');
  const title = decision === 'reject' ? 'Pago rechazado' : 'Pago cancelado';
  return { good: true, title, text: 'El comercio recibe el aviso.' };
}

const failure = (text: string): FormResult => ({ good: false, title: 'No se pudo', text });

/** Pesos, with cents after a comma or point. Undefined: the registered amount. Null: not an amount. */
function readAmount(text: string): string | undefined | null {
  if (text.trim() === '') return undefined;
  const [, pesos = '', cents = ''] = /^(\d{1,15})(?:[.,](\d{1,2}))?$/.exec(text.trim()) ?? [];
  const amount = `${pesos}.${cents.padEnd(2, '0')}`;
  return pesos !== '' && /[1-9]/.test(amount) ? amount : null;
}

function page(deps: Deps, key: string | null, formResult: FormResult | null): string {
  const result =
    formResult === null
      ? ''
      : `<section class="result ${formResult.good ? 'good' : 'bad'}" role="status"><h2>${escapeHtml(formResult.title)}</h2>
<p>${escapeHtml(formResult.text)}</p></section>`;
  return `<h1>${TITLE}</h1>
${result}
<section>
<form method="get" action="pagar">
<label for="key">Llave</label>
<input type="text" id="key" name="key" value="${escapeHtml(key ?? '')}" placeholder="@CDL…" maxlength="100"
 autocapitalize="characters" autocomplete="off" spellcheck="false" required>
<button${key === null ? ' class="main"' : ''}>Buscar la llave</button>
</form>
</section>
${key === null ? '' : keySection(deps, key)}
<p><a href="./">Inicio del simulador</a></p>`;
}

const STATUS_TEXTS = {
  REGISTERED: 'Registrada, se puede pagar',
  CLOSED: 'Cerrada',
  REJECTED: 'Pago rechazado',
  CANCELED: 'Pago cancelado',
  NOT_FOUND: 'Nadie la ha registrado',
} as const;

function keySection({ state }: Deps, key: string): string {
  const record = state.keys.byKey.get(key);
  const registered = record?.registration?.amount;
  const payments = record?.payments ?? [];
  return `<section>
${facts([
  ['Llave', key],
  ['Estado', STATUS_TEXTS[keyStatus(record)]],
  ...(registered === undefined ? [] : ([['Valor registrado', formatPesos(registered)]] as const)),
  ...payments
    .slice(-5)
    .map(
      ({ amount, at }) =>
        ['Pagada', `${formatPesos(amount)} · ${at.slice(0, 19).replace('T', ' ')} UTC`] as const,
    ),
])}
<form method="post" action="pagar">
<input type="hidden" name="key" value="${escapeHtml(key)}">
<label for="amount">Valor en pesos</label>
<input type="text" id="amount" name="amount" inputmode="decimal" autocomplete="off" value="${escapeHtml(registered ?? '')}">
<label class="check"><input type="checkbox" name="anyway"> Aunque la llave esté cerrada, terminada o no exista
(una orden que ya iba en camino)</label>
<button class="main" name="decision" value="pay">Pagar</button>
<button class="danger" name="decision" value="reject">Rechazar el pago</button>
<button name="decision" value="cancel">Cancelar el pago</button>
</form>
</section>`;
}

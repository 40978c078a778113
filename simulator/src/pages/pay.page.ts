import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { endKey } from '../breb/end-key.ts';
import { keyStatus } from '../breb/key-status.ts';
import { readKey } from '../breb/key-type.ts';
import { payKey } from '../breb/pay-key.ts';
import type { Deps } from '../deps.ts';
import { readBody } from '../request-body.ts';
import { escapeHtml, facts, formatPesos, sendPage } from './html.ts';

type Said = { readonly good: boolean; readonly title: string; readonly text: string };

const payForm = z.object({
  key: z.string().min(1).max(100),
  amount: z.string().max(30).default(''),
  decision: z.enum(['pay', 'reject', 'cancel']),
  anyway: z.literal('on').optional(),
});

type PayForm = z.infer<typeof payForm>;

/** The payer's bank app: any key, any amount. */
export function payPage(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: { key?: string | string[] } }>('/pagar', async (request, reply) => {
    await deps.journal.settled();
    const { key } = request.query;
    const asked = typeof key === 'string' && key.trim() !== '' ? stored(key) : null;
    return sendPage(reply, 200, TITLE, page(deps, asked, null));
  });

  app.post('/pagar', async (request, reply) => {
    const form = readBody(payForm, request);
    const key = stored(form.key);
    const said = form.decision === 'pay' ? await paid(deps, key, form) : await ended(deps, key, form);
    return sendPage(reply, 200, TITLE, page(deps, key, said));
  });
}

const TITLE = 'Pagar una llave Bre-B';

/** As the directory writes it, for people type small letters. */
function stored(text: string): string {
  return readKey(text.trim())?.key ?? text.trim();
}

async function paid(deps: Deps, key: string, form: PayForm): Promise<Said> {
  const amount = readAmount(form.amount);
  if (amount === null) return refused('Escriba el valor en pesos, por ejemplo 49800 o 49800,50.');
  const result = await payKey(deps, { key, amount, anyway: form.anyway !== undefined });
  if (!('code' in result)) {
    const text = `Ejecución ${result.executionId}. Punta a punta ${result.endToEndId}.`;
    return { good: true, title: 'Pago hecho', text };
  }
  return refused(
    result.code === '0004'
      ? 'La llave no existe, está cerrada o su pago ya terminó (0004).'
      : 'La llave no dice cuánto se paga: escriba el valor.',
  );
}

async function ended(deps: Deps, key: string, { decision, anyway }: PayForm): Promise<Said> {
  const outcome = decision === 'reject' ? 'REJECTED' : 'CANCELED';
  const done = await endKey(deps, { key, outcome, anyway: anyway !== undefined });
  if (!done)
    return refused('No queda nada por terminar: la llave no existe, está cerrada, terminó o ya fue pagada.');
  const title = decision === 'reject' ? 'Pago rechazado' : 'Pago cancelado';
  return { good: true, title, text: 'El comercio recibe el aviso.' };
}

const refused = (text: string): Said => ({ good: false, title: 'No se pudo', text });

/** Undefined for the registered amount, null for what is none. Pesos, with cents after a comma or a point. */
function readAmount(text: string): string | undefined | null {
  if (text.trim() === '') return undefined;
  const [, pesos = '', cents = ''] = /^(\d{1,15})(?:[.,](\d{1,2}))?$/.exec(text.trim()) ?? [];
  const amount = `${pesos}.${cents.padEnd(2, '0')}`;
  return pesos !== '' && /[1-9]/.test(amount) ? amount : null;
}

function page(deps: Deps, key: string | null, said: Said | null): string {
  const result =
    said === null
      ? ''
      : `<section class="result ${said.good ? 'good' : 'bad'}" role="status"><h2>${escapeHtml(said.title)}</h2>
<p>${escapeHtml(said.text)}</p></section>`;
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

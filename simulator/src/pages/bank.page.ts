import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { equalInConstantTime } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import { BANKS } from '../pse/banks.ts';
import { DECLINE_REASONS, PAYER_CANCELED, reasonText } from '../pse/decline-reasons.ts';
import { endTransaction } from '../pse/end-transaction.ts';
import { openTransaction } from '../pse/open-transaction.ts';
import type { Transaction } from '../pse/transaction.store.ts';
import { readBody } from '../request-body.ts';
import { escapeHtml, facts, formatPesos, sendPage } from './html.ts';

type BankRequest = { Params: { transactionId: string }; Querystring: { t?: string | string[] } };

const decisionBody = z.object({
  decision: z.enum(['approve', 'reject', 'cancel']),
  reason: z
    .string()
    .refine((reason) => DECLINE_REASONS.has(reason), 'is not a decline reason')
    .default('11'),
});

type Decision = z.infer<typeof decisionBody>;

/** The page PSE redirects the payer to. A wrong `t` returns 404, like an unknown transaction. */
export function bankPage(app: FastifyInstance, deps: Deps): void {
  app.get<BankRequest>('/bank/:transactionId', async (request, reply) => {
    const found = find(deps, request);
    if (found === null) return notFound(reply);
    await openTransaction(deps, found);
    await deps.journal.synced();
    return show(reply, found);
  });

  app.post<BankRequest>('/bank/:transactionId', async (request, reply) => {
    const found = find(deps, request);
    if (found === null) return notFound(reply);
    // If a second click or a timeout has already decided the transaction, the page shows its current state.
    await endTransaction(deps, found, { ...toDecision(readBody(decisionBody, request)), anyway: false });
    await deps.journal.synced();
    return show(reply, found);
  });
}

function find({ state }: Deps, request: FastifyRequest<BankRequest>): Transaction | null {
  const found = state.transactions.byTransactionId.get(request.params.transactionId);
  const { t } = request.query;
  return found !== undefined && typeof t === 'string' && equalInConstantTime(t, found.secret) ? found : null;
}

function toDecision({ decision, reason }: Decision) {
  if (decision === 'approve') return { state: 'OK' } as const;
  return { state: 'NOT_AUTHORIZED', reason: decision === 'cancel' ? PAYER_CANCELED : reason } as const;
}

function notFound(reply: FastifyReply): FastifyReply {
  return sendPage(reply, 404, 'No encontrada', '<h1>Transacción no encontrada</h1>');
}

function show(reply: FastifyReply, transaction: Transaction): FastifyReply {
  const bank = BANKS.get(transaction.bankCode) ?? transaction.bankCode;
  const body = `<h1>${escapeHtml(bank)}</h1>
<p class="quiet">Banco simulado</p>
${transaction.state === 'PENDING' ? '' : outcome(transaction)}
<section>
<p class="quiet">Valor</p>
<p class="amount">${escapeHtml(formatPesos(transaction.amount))}</p>
${facts([
  ['Descripción', transaction.description],
  ['CUS', transaction.trazabilityCode],
  ['Paga', transaction.payer.name],
  ['Documento', `${transaction.payer.documentType} ${transaction.payer.documentNumber}`],
])}
</section>
${transaction.state === 'PENDING' ? choices(transaction) : returnLink(transaction)}`;
  return sendPage(reply, 200, `${bank} (simulado)`, body);
}

const OUTCOMES = {
  OK: ['good', 'Pago aprobado'],
  NOT_AUTHORIZED: ['bad', 'Pago rechazado'],
  FAILED: ['bad', 'Pago fallido'],
} as const;

function outcome({ state, reason }: Transaction): string {
  if (state === 'PENDING') return '';
  const [look, text] = reason === PAYER_CANCELED ? (['bad', 'Pago cancelado'] as const) : OUTCOMES[state];
  const why = reason === null ? '' : `<p>${escapeHtml(reasonText(reason))}</p>`;
  return `<section class="result ${look}" role="status"><h2>${text}</h2>${why}</section>`;
}

// A form without an action posts to the URL of the page, including its secret.
function choices(transaction: Transaction): string {
  const reasons = [...DECLINE_REASONS].map(
    ([reason, text]) => `<option value="${reason}">${escapeHtml(text)}</option>`,
  );
  return `<section>
<form method="post"><button class="main" name="decision" value="approve">Aprobar el pago</button></form>
</section>
<section>
<form method="post">
<label for="reason">Motivo del rechazo</label>
<select id="reason" name="reason">${reasons.join('')}</select>
<button class="danger" name="decision" value="reject">Rechazar</button>
</form>
</section>
<section>
<form method="post"><button name="decision" value="cancel">Cancelar</button></form>
</section>
<p><a href="${escapeHtml(transaction.returnUrl)}">Salir sin pagar</a></p>
<p class="quiet">Al salir no se decide nada: el pago sigue pendiente.</p>`;
}

function returnLink({ returnUrl }: Transaction): string {
  return `<a class="button main" href="${escapeHtml(returnUrl)}">Volver al comercio</a>`;
}

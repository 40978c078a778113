import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { equalInConstantTime } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import { BANKS } from '../pse/banks.ts';
import { DECLINE_REASONS, PAYER_CANCELED, reasonText } from '../pse/decline-reasons.ts';
import { endTransaction } from '../pse/end-transaction.ts';
import { abandonTransaction, leaveTransaction } from '../pse/leave-transaction.ts';
import { openTransaction } from '../pse/open-transaction.ts';
import type { Transaction } from '../pse/transaction.store.ts';
import { readBody } from '../request-body.ts';
import { BANK_TEXTS } from './bank.texts.ts';
import { escapeHtml, facts, formatPesos, sendPage, utcText } from './html.ts';
import { type Language, readLanguage } from './language.ts';

type BankRequest = { Params: { transactionId: string }; Querystring: { t?: string | string[] } };

/** For a payer who leaves the page and authorizes in the bank's app. */
const APPROVES_LATER_MS = 60_000;

const decisionBody = z.object({
  decision: z.enum(['approve', 'reject', 'cancel', 'approve-later', 'abandon', 'approve-late']),
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
    if (found === null) return notFound(request, reply);
    await openTransaction(deps, found);
    await deps.journal.synced();
    return show(request, reply, found);
  });

  app.post<BankRequest>('/bank/:transactionId', async (request, reply) => {
    const found = find(deps, request);
    if (found === null) return notFound(request, reply);
    await decide(deps, found, readBody(decisionBody, request));
    await deps.journal.synced();
    return show(request, reply, found);
  });
}

function find({ state }: Deps, request: FastifyRequest<BankRequest>): Transaction | null {
  const found = state.transactions.byTransactionId.get(request.params.transactionId);
  const { t } = request.query;
  return found !== undefined && typeof t === 'string' && equalInConstantTime(t, found.secret) ? found : null;
}

/** If a second click or a timeout has already decided the transaction, the page shows its current state. */
async function decide(deps: Deps, transaction: Transaction, { decision, reason }: Decision): Promise<void> {
  switch (decision) {
    case 'approve-later':
      return leaveTransaction(deps, transaction, APPROVES_LATER_MS);
    case 'abandon':
      await abandonTransaction(deps, transaction);
      return;
    case 'approve':
    case 'approve-late':
      if (transaction.state === 'OK') return;
      await endTransaction(deps, transaction, { state: 'OK', anyway: decision === 'approve-late' });
      return;
    default:
      await endTransaction(deps, transaction, {
        state: 'NOT_AUTHORIZED',
        reason: decision === 'cancel' ? PAYER_CANCELED : reason,
        anyway: false,
      });
  }
}

function notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const texts = BANK_TEXTS[readLanguage(request)];
  const body = `<h1>${texts.notFound}</h1>`;
  return sendPage(request, reply, { status: 404, title: texts.notFoundTitle, body });
}

function show(request: FastifyRequest, reply: FastifyReply, transaction: Transaction): FastifyReply {
  const language = readLanguage(request);
  const texts = BANK_TEXTS[language];
  const bank = BANKS.get(transaction.bankCode) ?? transaction.bankCode;
  const { merchantName } = transaction;
  const body = `<h1>${escapeHtml(bank)}</h1>
<p class="quiet">${texts.simulatedBank}</p>
${outcome(transaction, language)}
<section>
<p class="quiet">${texts.amount}</p>
<p class="amount">${escapeHtml(formatPesos(transaction.amount))}</p>
${facts([
  ...(merchantName === null ? [] : ([[texts.merchant, merchantName]] as const)),
  [texts.description, transaction.description],
  ['CUS', transaction.trazabilityCode],
  [texts.payer, transaction.payer.name],
  [texts.document, `${transaction.payer.documentType} ${transaction.payer.documentNumber}`],
])}
</section>
${transaction.state === 'PENDING' ? choices(transaction, language) : ending(transaction, language)}`;
  return sendPage(request, reply, { title: `${bank} (${texts.simulated})`, body });
}

function outcome({ state, reason, approvesAt }: Transaction, language: Language): string {
  const texts = BANK_TEXTS[language];
  if (state === 'PENDING') {
    if (approvesAt === null) return '';
    return `<section class="result" role="status"><p>${texts.willApprove} ${utcText(approvesAt)}.</p></section>`;
  }
  const title = reason === PAYER_CANCELED ? texts.canceled : texts[state];
  const why = reason === null ? '' : `<p>${escapeHtml(reasonText(reason, language))}</p>`;
  const look = state === 'OK' ? 'good' : 'bad';
  return `<section class="result ${look}" role="status"><h2>${title}</h2>${why}</section>`;
}

function button(decision: Decision['decision'], text: string, look = ''): string {
  return `<button${look === '' ? '' : ` class="${look}"`} name="decision" value="${decision}">${text}</button>`;
}

// A form without an action posts to the URL of the page, including its secret.
function choices({ returnUrl }: Transaction, language: Language): string {
  const texts = BANK_TEXTS[language];
  const reasons = [...DECLINE_REASONS].map(
    ([reason, text]) => `<option value="${reason}">${escapeHtml(text[language])}</option>`,
  );
  return `<section>
<form method="post">${button('approve', texts.approve, 'main')}</form>
</section>
<section>
<form method="post">
<label for="reason">${texts.reason}</label>
<select id="reason" name="reason">${reasons.join('')}</select>
${button('reject', texts.reject, 'danger')}
</form>
</section>
<section>
<form method="post">${button('cancel', texts.cancel)}</form>
</section>
<section>
<h2>${texts.leaveTitle}</h2>
<p><a href="${escapeHtml(returnUrl)}">${texts.leave}</a></p>
<p class="quiet">${texts.leaveNote}</p>
<form method="post">
${button('approve-later', texts.approveLater)}
${button('abandon', texts.abandon)}
</form>
</section>`;
}

function ending({ state, returnUrl }: Transaction, language: Language): string {
  const texts = BANK_TEXTS[language];
  const link = `<a class="button main" href="${escapeHtml(returnUrl)}">${texts.back}</a>`;
  if (state === 'OK') return link;
  return `${link}
<section>
<p class="quiet">${texts.approvedLateNote}</p>
<form method="post">${button('approve-late', texts.approvedLate)}</form>
</section>`;
}

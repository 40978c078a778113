import type { FastifyInstance } from 'fastify';
import { keyStatus } from '../breb/key-status.ts';
import { readKey } from '../breb/key-type.ts';
import type { Deps } from '../deps.ts';
import { readBody } from '../request-body.ts';
import { escapeHtml, facts, formatPesos, sendPage, utcText } from './html.ts';
import { readLanguage } from './language.ts';
import { type FormResult, type PayForm, payForm, submitPayForm } from './pay.form.ts';
import { PAY_TEXTS, type PayTexts } from './pay.texts.ts';

/** The payer's bank app: pays any key with any amount. */
export function payPage(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: { key?: string | string[] } }>('/pagar', async (request, reply) => {
    await deps.journal.synced();
    const { key: text } = request.query;
    const key = typeof text === 'string' && text.trim() !== '' ? normalizeKey(text) : null;
    const texts = PAY_TEXTS[readLanguage(request)];
    return sendPage(request, reply, { title: texts.title, body: page(deps, texts, key, null) });
  });

  app.post('/pagar', async (request, reply) => {
    const form = readBody(payForm, request);
    const key = normalizeKey(form.key);
    const texts = PAY_TEXTS[readLanguage(request)];
    const result = await submitPayForm({ deps, key, texts }, form);
    const body = page(deps, texts, key, result);
    return sendPage(request, reply, { title: texts.title, body, query: { key } });
  });
}

/** Normalizes a key as bank apps do: people type lower-case letters and copy spaces between groups. */
function normalizeKey(text: string): string {
  const compact = text.replace(/\s+/g, '');
  return readKey(compact)?.key ?? compact;
}

function page(deps: Deps, texts: PayTexts, key: string | null, result: FormResult | null): string {
  return `<h1>${texts.title}</h1>
${result === null ? '' : resultSection(result)}
<section>
<form method="get" action="pagar">
<label for="key">${texts.key}</label>
<input type="text" id="key" name="key" value="${escapeHtml(key ?? '')}" placeholder="@CDL…" maxlength="100"
 autocapitalize="characters" autocomplete="off" spellcheck="false" required>
<button${key === null ? ' class="main"' : ''}>${texts.find}</button>
</form>
</section>
${key === null ? '' : keySections(deps, texts, key)}
<p><a href="./">${texts.home}</a></p>`;
}

function resultSection({ good, title, text }: FormResult): string {
  return `<section class="result ${good ? 'good' : 'bad'}" role="status"><h2>${escapeHtml(title)}</h2>
<p>${escapeHtml(text)}</p></section>`;
}

/** One form: each button is a payer. Only the first one needs a typed amount. */
function keySections(deps: Deps, texts: PayTexts, key: string): string {
  const expected = deps.state.keys.byKey.get(key)?.registration?.amount;
  return `<form method="post" action="pagar">
<input type="hidden" name="key" value="${escapeHtml(key)}">
<section>
${keyFacts(deps, texts, key)}
<label for="amount">${texts.amount}</label>
<input type="text" id="amount" name="amount" inputmode="decimal" autocomplete="off" aria-describedby="amount-note" required>
<p class="quiet" id="amount-note">${texts.amountNote}</p>
<button class="main" name="decision" value="pay">${texts.pay}</button>
</section>
<section>
<h2>${texts.others}</h2>
${expected === undefined ? '' : `<p>${texts.expected} <strong>${formatPesos(expected)}</strong></p>`}
<p class="quiet">${texts.othersNote}</p>
${other('half', texts.half)}
${other('double', texts.double)}
${other('twice', texts.twice)}
${other('late', texts.payLate)}
${other('reject', texts.reject, 'danger')}
${other('cancel', texts.cancel)}
</section>
</form>`;
}

function other(decision: PayForm['decision'], text: string, look = ''): string {
  const style = look === '' ? '' : ` class="${look}"`;
  return `<button${style} name="decision" value="${decision}" formnovalidate>${text}</button>`;
}

function keyFacts({ state }: Deps, texts: PayTexts, key: string): string {
  const { byKey, latePayers } = state.keys;
  const record = byKey.get(key);
  const late = latePayers.get(key);
  return facts([
    [texts.key, key],
    [texts.status, texts[keyStatus(record)]],
    ...(record?.payments ?? [])
      .slice(-5)
      .map(({ amount, at }) => [texts.paid, `${formatPesos(amount)} · ${utcText(at)}`] as const),
    ...(late === undefined ? [] : [[texts.late, formatPesos(late)] as const]),
  ]);
}

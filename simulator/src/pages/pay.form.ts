import { z } from 'zod';
import { endKey } from '../breb/end-key.ts';
import { payKey } from '../breb/pay-key.ts';
import { payLate } from '../breb/pay-late.ts';
import type { Deps } from '../deps.ts';
import { fromCents, toCents } from '../wire.ts';
import { formatPesos } from './html.ts';
import type { PayTexts } from './pay.texts.ts';

export const payForm = z.object({
  key: z.string().min(1).max(100),
  amount: z.string().max(30).default(''),
  decision: z.enum(['pay', 'half', 'double', 'twice', 'late', 'reject', 'cancel']),
});

export type PayForm = z.infer<typeof payForm>;

export type FormResult = { readonly good: boolean; readonly title: string; readonly text: string };

type Submission = {
  readonly deps: Deps;
  readonly key: string;
  readonly texts: PayTexts;
};

/** Does what the payer of the form does. `key` is normalized. */
export async function submitPayForm(
  submission: Submission,
  { decision, amount: typed }: PayForm,
): Promise<FormResult> {
  const { texts } = submission;
  if (decision === 'reject' || decision === 'cancel') return end(submission, decision);
  const isTyped = typed.trim() !== '' && decision !== 'half' && decision !== 'double';
  const amount = isTyped ? readAmount(typed) : chooseAmount(submission, decision);
  if (amount === null) return { good: false, title: texts.failed, text: texts.wrongAmount };
  if (decision === 'late') return submitLate(submission, amount);
  return submitPayments(submission, amount, decision === 'twice' ? 2 : 1);
}

async function submitPayments(
  { deps, key, texts }: Submission,
  amount: string,
  times: 1 | 2,
): Promise<FormResult> {
  const command = { key, amount, anyway: false };
  const results = await Promise.all(Array.from({ length: times }, () => payKey(deps, command)));
  const lines = results.map((result) =>
    'code' in result
      ? null
      : `${texts.execution} ${result.executionId}. ${texts.endToEnd} ${result.endToEndId}.`,
  );
  if (lines.includes(null)) return { good: false, title: texts.failed, text: texts.notPayable };
  return { good: true, title: times === 2 ? texts.doneTwice : texts.done, text: lines.join(' ') };
}

async function submitLate({ deps, key, texts }: Submission, amount: string): Promise<FormResult> {
  const result = await payLate(deps, { key, amount });
  if ('code' in result) return { good: false, title: texts.failed, text: texts.wrongAmount };
  if ('executionId' in result) {
    const text = `${texts.execution} ${result.executionId}. ${texts.endToEnd} ${result.endToEndId}.`;
    return { good: true, title: texts.done, text };
  }
  const text = `${texts.doneLateText} ${formatPesos(result.paysAfterClosing)}.`;
  return { good: true, title: texts.doneLate, text };
}

async function end({ deps, key, texts }: Submission, decision: 'reject' | 'cancel'): Promise<FormResult> {
  const outcome = decision === 'reject' ? 'REJECTED' : 'CANCELED';
  if (!(await endKey(deps, { key, outcome, anyway: false })))
    return { good: false, title: texts.failed, text: texts.nothingToEnd };
  return { good: true, title: texts[outcome], text: texts.notified };
}

/** The amount of a payer who typed none. Null: a payer who simply pays must type it, as in a bank app. */
function chooseAmount({ deps, key }: Submission, decision: PayForm['decision']): string | null {
  const expected = deps.state.keys.byKey.get(key)?.registration?.amount;
  if (expected === undefined || decision === 'pay') return null;
  const cents = toCents(expected);
  if (decision === 'half') return fromCents(cents < 2n ? 1n : cents / 2n);
  return decision === 'double' ? fromCents(2n * cents) : expected;
}

/** Pesos, with cents after a comma or point; null when it is no amount. */
function readAmount(text: string): string | null {
  const [, pesos = '', cents = ''] = /^(\d{1,15})(?:[.,](\d{1,2}))?$/.exec(text.trim()) ?? [];
  const amount = `${pesos}.${cents.padEnd(2, '0')}`;
  return pesos !== '' && /[1-9]/.test(amount) ? amount : null;
}

import type { SystemDeps } from '../deps.ts';
import { type EndPayinRefusal, endPayin } from '../flows/payins/end-payin.ts';
import { findPayins, type PayinSearch } from '../flows/payins/find-payins.ts';
import { showPayin } from '../flows/payins/show-payin.ts';
import { isUuid } from '../kit/ids.ts';
import { type Options, type Output, UsageError } from './options.ts';
import { overviewJson, overviewText, payinJson, payinLine } from './payin-view.ts';
import { centsOf, spanOf } from './search-options.ts';

const LIMIT = 50;

export async function payinsFind(deps: SystemDeps, options: Options): Promise<Output> {
  const found = await findPayins(deps, searchOf(options), LIMIT);
  const more = found.length === LIMIT ? `\n(perhaps more: the newest ${LIMIT} are shown)` : '';
  return {
    json: found.map(payinJson),
    text: found.length === 0 ? 'No payin matches.' : found.map(payinLine).join('\n') + more,
  };
}

function searchOf(options: Options): PayinSearch {
  const text = (name: string) => options.matching(name, /^.{1,255}$/, 'a text', '') || undefined;
  const uuid = (name: string, what: string) => {
    const value = text(name)?.toLowerCase();
    if (value !== undefined && !isUuid(value)) throw new UsageError(`--${name} must be the id of ${what}`);
    return value;
  };
  const search: PayinSearch = {
    id: uuid('id', 'a payin'),
    reference: text('reference'),
    brebKey: text('key'),
    cus: text('cus'),
    transaction: text('transaction'),
    amount: centsOf(options, 'amount'),
    created: spanOf(options),
    organizationId: uuid('org', 'an organization (org list shows them)'),
  };
  const { id, reference, brebKey, cus, transaction, created } = search;
  if ([id, reference, brebKey, cus, transaction, created].every((each) => each === undefined))
    throw new UsageError(
      'payins find needs one of --id, --reference, --key, --cus, --transaction, --day or --from and --to; --amount and --org narrow it down',
    );
  return search;
}

export async function payinsShow(deps: SystemDeps, options: Options): Promise<Output> {
  const overview = await showPayin(deps, idOf(options, 'payins show'));
  if (!overview) throw new Error('there is no such payin (payins find searches for one)');
  return { json: overviewJson(overview), text: overviewText(overview) };
}

export async function payinsEnd(deps: SystemDeps, options: Options): Promise<Output> {
  const id = idOf(options, 'payins end');
  options.required('reason');
  const outcome = await endPayin(deps, id, {
    by: options.by,
    reason: options.matching('reason', /^.{1,500}$/, 'a text of at most 500 letters', ''),
  });
  if (outcome.kind !== 'ended') throw new Error(refusal(outcome));
  const { status, decidedBy } = outcome;
  return {
    json: { id, status, decidedBy },
    text:
      decidedBy === 'operator'
        ? `Payin ${id} is ${status}: the rail lists no payment for it that is not booked for another payin. Money that comes later becomes an anomaly.`
        : `Payin ${id} is ${status}: the rail, queried for it, had ended it.`,
  };
}

function idOf(options: Options, command: string): string {
  const [id = ''] = options.words;
  if (!isUuid(id)) throw new UsageError(`${command} needs the id of a payin`);
  return id;
}

function refusal(outcome: EndPayinRefusal): string {
  switch (outcome.kind) {
    case 'no_such_payin':
      return 'there is no such payin (payins find searches for one)';
    case 'ended_before':
      return `the payin has ended before: ${outcome.status}`;
    case 'too_early':
      return `the payer may still be paying: the payin can be ended in ${Math.ceil(outcome.afterMs / 1000)} seconds, once it has expired and the rail's processing time has passed`;
    case 'rail_unreachable':
      return `the rail gave no clear answer (${outcome.cause}), so a payment may exist: nothing was changed. Try again when it answers`;
    case 'payment_listed':
      return `the rail lists a payment, so the payin cannot be ended: it is ${outcome.status}${outcome.status === 'CONFIRMED' ? ', confirmed by this query' : ' (anomalies list shows why)'}`;
  }
}

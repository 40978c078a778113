import type { SystemDeps } from '../deps.ts';
import { type EndPayinRejection, endPayin } from '../flows/payins/end-payin.system.ts';
import { findPayins, type PayinSearch } from '../flows/payins/find-payins.system.ts';
import { showPayin } from '../flows/payins/show-payin.system.ts';
import { isUuid } from '../kit/ids.ts';
import { type Options, type Output, UsageError } from './options.ts';
import { overviewJson, overviewText, payinJson, payinLine } from './payin-view.ts';
import { readCents, readSpan } from './search-options.ts';

const LIMIT = 50;

export async function payinsFind(deps: SystemDeps, options: Options): Promise<Output> {
  const found = await findPayins(deps, readSearch(options), LIMIT);
  const more = found.length === LIMIT ? `\n(there may be more; the newest ${LIMIT} are shown)` : '';
  return {
    json: found.map(payinJson),
    text: found.length === 0 ? 'No payin matches.' : found.map(payinLine).join('\n') + more,
  };
}

function readSearch(options: Options): PayinSearch {
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
    amount: readCents(options, 'amount'),
    created: readSpan(options),
    organizationId: uuid('org', 'an organization (see org list)'),
  };
  const { id, reference, brebKey, cus, transaction, created } = search;
  if ([id, reference, brebKey, cus, transaction, created].every((each) => each === undefined))
    throw new UsageError(
      'payins find needs one of --id, --reference, --key, --cus, --transaction, --day or --from and --to; --amount and --org only narrow the search',
    );
  return search;
}

export async function payinsShow(deps: SystemDeps, options: Options): Promise<Output> {
  const overview = await showPayin(deps, readId(options, 'payins show'));
  if (!overview) throw new Error('there is no such payin (see payins find)');
  return { json: overviewJson(overview), text: overviewText(overview) };
}

export async function payinsEnd(deps: SystemDeps, options: Options): Promise<Output> {
  const id = readId(options, 'payins end');
  options.required('reason');
  const outcome = await endPayin(deps, id, {
    by: options.by,
    reason: options.matching('reason', /^.{1,500}$/, 'a text of at most 500 characters', ''),
  });
  if (outcome.kind !== 'ended') throw new Error(rejectionText(outcome));
  const { status, decidedBy } = outcome;
  return {
    json: { id, status, decidedBy },
    text:
      decidedBy === 'operator'
        ? `Payin ${id} is ${status}: the rail lists no payment for it, except payments posted for another payin. Money that arrives later becomes an anomaly.`
        : `Payin ${id} is ${status}: the rail reported its final status.`,
  };
}

function readId(options: Options, command: string): string {
  const [id = ''] = options.args;
  if (!isUuid(id)) throw new UsageError(`${command} needs the id of a payin`);
  return id;
}

function rejectionText(outcome: EndPayinRejection): string {
  switch (outcome.kind) {
    case 'no_such_payin':
      return 'there is no such payin (see payins find)';
    case 'ended_before':
      return `the payin is already final: ${outcome.status}`;
    case 'too_early':
      return `the payer may still pay: the payin can be ended in ${Math.ceil(outcome.afterMs / 1000)} seconds, after its expiry and the rail's processing time`;
    case 'rail_unreachable':
      return `the rail gave no clear answer (${outcome.cause}), so a payment may exist. Nothing was changed; try again later`;
    case 'payment_listed':
      return `the rail lists a payment, so the payin cannot be ended: it is ${outcome.status}${outcome.status === 'CONFIRMED' ? ', confirmed by this query' : ' (see anomalies list)'}`;
  }
}

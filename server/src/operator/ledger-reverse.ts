import type { SystemDeps } from '../deps.ts';
import {
  type Reversal,
  type ReversalRejection,
  reversePosting,
} from '../flows/ledger/reverse-posting.system.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { parsePesos, readOrganizationOption } from './ledger.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function ledgerReverse(deps: SystemDeps, options: Options): Promise<Output> {
  const amount = options.matching('amount', /^.+$/, 'pesos', '');
  const outcome = await reversePosting(deps, {
    organizationId: readOrganizationOption(options),
    posting: toPosting(options),
    amount: amount === '' ? null : parsePesos(amount),
    operator: options.by,
    reason: options.matching('reason', /^.{1,500}$/, 'a text of at most 500 characters', ''),
  });
  if (outcome.kind !== 'reversed') throw new Error(`nothing was reversed: ${rejectionText(outcome)}`);
  const { transferId, reversedTransferId, anomalyId } = outcome;
  const reopened = anomalyId === null ? '' : ` Anomaly ${anomalyId} is reopened.`;
  return {
    json: {
      reversed: true,
      transferId,
      reversedTransferId,
      amountInCents: Number(outcome.amount),
      anomalyId,
    },
    text: `Reversed COP ${decimalPesos(outcome.amount)} of transfer ${reversedTransferId}.${reopened}`,
  };
}

function toPosting(options: Options): Reversal['posting'] {
  const transferId = options.matching('transfer', /^.+$/, 'the id of a transfer', '');
  const depositReference = options.matching('deposit', /^.{1,255}$/, 'the reference of a deposit', '');
  if ((transferId === '') === (depositReference === ''))
    throw new UsageError('give either --transfer ID or --deposit REFERENCE');
  if (transferId === '') return { depositReference };
  if (!isUuid(transferId)) throw new UsageError('--transfer must be the id of a transfer');
  return { transferId };
}

function rejectionText(outcome: ReversalRejection): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'the organization has no such transfer (audit list --org ID shows transfer ids)';
    case 'not_reversible':
      return `a transfer of kind ${outcome.causeKind} cannot be reversed, only deposits and resolutions of anomalies`;
    case 'already_reversed':
      return `it was reversed before, by COP ${decimalPesos(outcome.amount)}; a transfer can be reversed once`;
    case 'above_booking':
      return `the transfer is COP ${decimalPesos(outcome.bookedAmount)}; --amount cannot be more`;
    case 'whole_only':
      return `the resolution of an anomaly can only be reversed in full, COP ${decimalPesos(outcome.bookedAmount)}; omit --amount`;
    case 'insufficient_balance':
      return `COP ${decimalPesos(outcome.amount)} are needed and the ${outcome.account} balance is COP ${decimalPesos(outcome.balance)}. A deposit can be reversed in part with --amount`;
    case 'accepted_by_merchant':
      return 'the merchant accepted the money of this anomaly; agree on a solution with the merchant';
  }
}

import type { Anomaly } from '../anomalies/anomaly.ts';
import type { SystemDeps } from '../deps.ts';
import { listAnomalies, type ResolveOutcome, resolve } from '../flows/payins/resolve-anomaly.system.ts';
import { type HeldOutcome, resolveHeldPayin } from '../flows/payins/resolve-held-payin.system.ts';
import { findReceiver, returnTo } from '../flows/payouts/return-money.system.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { readReceiverKey } from '../payouts/receiver-key.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MAX_LISTED = 1000;

export async function anomaliesList(deps: SystemDeps, options: Options): Promise<Output> {
  const anomalies = await listAnomalies(deps, options.hasFlag('all'), MAX_LISTED);
  return {
    json: anomalies.map(({ amount, ...rest }) => ({
      ...rest,
      amountInCents: amount === null ? null : Number(amount),
    })),
    text:
      anomalies.map(line).join('\n') +
        (anomalies.length === MAX_LISTED ? `\n(there may be more; ${MAX_LISTED} are shown)` : '') ||
      (options.hasFlag('all') ? 'There are no anomalies.' : 'There are no open anomalies.'),
  };
}

function line(anomaly: Anomaly): string {
  const money =
    anomaly.kind === 'payment_not_listed'
      ? 'settlement held'
      : anomaly.amount === null
        ? 'no money'
        : `COP ${decimalPesos(anomaly.amount)}`;
  const about =
    anomaly.payinId !== null
      ? `payin ${anomaly.payinId}`
      : anomaly.payoutId !== null
        ? `payout ${anomaly.payoutId}`
        : anomaly.reference;
  const accepted = anomaly.acceptedAt === null ? '' : '  accepted by the merchant';
  const end = anomaly.resolution === null ? accepted : `  ${anomaly.resolution} by ${anomaly.resolvedBy}`;
  return `${anomaly.id}  ${anomaly.noticedAt.toISOString()}  ${anomaly.rail.padEnd(5)}  ${anomaly.kind.padEnd(13)}  ${money}  ${about}${end}`;
}

const SUSPENSE_ACTIONS = ['credit', 'return', 'charge', 'write-off', 'dismiss'] as const;
const HELD_ACTIONS = ['release', 'reverse'] as const;

export async function anomaliesResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const [id] = options.args;
  if (id === undefined || !isUuid(id))
    throw new UsageError('anomalies resolve needs the id of an anomaly (see anomalies list)');
  const [action, other] = [...SUSPENSE_ACTIONS, ...HELD_ACTIONS].filter((each) => options.hasFlag(each));
  if (action === undefined || other !== undefined)
    throw new UsageError(
      'give exactly one of --credit, --return, --charge, --write-off and --dismiss, or of --release and --reverse',
    );
  if (action === 'release' || action === 'reverse') return resolveHeld(deps, options, id, action);
  const organizationId = options.matching('org', /^[0-9a-f-]{36}$/, 'the id of an organization', '');
  if (organizationId !== '' && !isUuid(organizationId))
    throw new UsageError('--org must be the id of an organization');
  const note = options.matching('note', /^.{1,500}$/, 'a note of at most 500 characters', '') || null;
  const receiver = action === 'return' ? await findConfirmedReceiver(deps, options) : null;
  const outcome = await resolve(deps, id, {
    how: action === 'write-off' ? 'write_off' : action,
    by: options.by,
    note,
    organizationId: organizationId || null,
    makeReturn: receiver && returnTo(deps, receiver, options.by),
  });
  if (outcome.kind !== 'resolved') throw new Error(rejectionText(outcome));
  const { returnPayoutId } = outcome;
  return {
    json: {
      id,
      resolution: outcome.anomaly.amount === null ? 'dismiss' : action,
      organizationId: outcome.organizationId,
      ...(returnPayoutId === null ? {} : { returnPayoutId }),
    },
    text: resolvedText(outcome, action, receiver?.name ?? ''),
  };
}

async function resolveHeld(
  deps: SystemDeps,
  options: Options,
  id: string,
  how: (typeof HELD_ACTIONS)[number],
): Promise<Output> {
  const note = options.matching('note', /^.{1,500}$/, 'a note of at most 500 characters', '') || null;
  const outcome = await resolveHeldPayin(deps, id, { how, by: options.by, note });
  if (outcome.kind !== 'decided') throw new Error(heldRejectionText(outcome));
  const { anomaly, amount } = outcome;
  const { organizationId, payinId } = anomaly;
  const money = `COP ${decimalPesos(amount)}`;
  return {
    json: { id, resolution: how, organizationId, payinId, amountInCents: Number(amount) },
    text:
      how === 'release'
        ? `${money} of payin ${payinId} will settle in the next settlement run.`
        : `${money} moved from the pending balance of ${organizationId} back to the rail. Payin ${payinId} stays CONFIRMED, with settlementStatus REVERSED.`,
  };
}

function heldRejectionText(outcome: Exclude<HeldOutcome, { kind: 'decided' }>): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'there is no such anomaly (see anomalies list --all)';
    case 'already_resolved':
      return `the anomaly was resolved before: ${outcome.anomaly.resolution} by ${outcome.anomaly.resolvedBy} at ${outcome.anomaly.resolvedAt?.toISOString()}`;
    case 'not_held':
      return 'the anomaly holds no settlement: --release and --reverse are for anomalies of kind payment_not_listed';
  }
}

/** Looks up the holder of the key before anything is written, and requires that the operator confirms it. */
async function findConfirmedReceiver(deps: SystemDeps, options: Options) {
  const receiverKey = readReceiverKey(options.required('key'));
  if (!receiverKey) throw new UsageError('--key is not a valid Bre-B key');
  const name = options.matching('name', /^.{1,120}$/, 'a name of at most 120 characters', '') || null;
  const receiver = await findReceiver(deps, receiverKey.key, name);
  if (!('kind' in receiver)) {
    // A typo in a key is another person's key, and money sent to the wrong person cannot be recovered.
    if (receiver.isNamed === false)
      throw new Error(`nothing was changed: the key belongs to ${receiver.name}, which is not "${name}"`);
    if (receiver.isNamed === null && !options.hasFlag('yes'))
      throw new Error(
        `nothing was changed: the key belongs to ${receiver.name}. Add --yes if that is the right holder, or give the expected name with --name`,
      );
    return receiver;
  }
  throw new Error(
    receiver.kind === 'no'
      ? `money cannot be sent to this key: ${receiver.errorCode}`
      : 'the network gave no clear answer about this key; nothing was changed. Try again',
  );
}

function resolvedText(
  { anomaly, organizationId, returnPayoutId }: Extract<ResolveOutcome, { kind: 'resolved' }>,
  action: (typeof SUSPENSE_ACTIONS)[number],
  receiver: string,
): string {
  if (anomaly.amount === null) return `Anomaly ${anomaly.id} is dismissed.`;
  const money = `COP ${decimalPesos(anomaly.amount < 0n ? -anomaly.amount : anomaly.amount)}`;
  switch (action) {
    case 'return':
      return `Payout ${returnPayoutId} returns ${money} to ${receiver}. If it is declined, the anomaly is reopened.`;
    case 'charge':
      return `${money} moved from the available balance of ${organizationId} to suspense.`;
    case 'write-off':
      return `${money} moved from treasury to suspense.`;
    default:
      return `${money} moved from suspense to the available balance of ${organizationId}.`;
  }
}

function rejectionText(outcome: Exclude<ResolveOutcome, { kind: 'resolved' }>): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'there is no such anomaly (see anomalies list --all)';
    case 'already_resolved':
      return `the anomaly was resolved before: ${outcome.anomaly.resolution} by ${outcome.anomaly.resolvedBy} at ${outcome.anomaly.resolvedAt?.toISOString()}`;
    case 'accepted':
      return `the merchant accepted it at ${outcome.anomaly.acceptedAt?.toISOString()} (${outcome.anomaly.acceptedBy}); a worker credits it`;
    case 'no_money':
      return 'the anomaly has no money to move: use --dismiss';
    case 'holds_money':
      return 'the anomaly has money, so it cannot be dismissed: use --credit or --return for incoming money, --charge or --write-off for outgoing money';
    case 'is_incoming':
      return 'the anomaly has incoming money: use --credit or --return';
    case 'is_outgoing':
      return 'the anomaly has outgoing money: use --charge or --write-off';
    case 'settlement_held':
      return 'the anomaly holds the settlement of a payin: --release lets it settle, --reverse reverses the payment';
    case 'organization_required':
      return 'the money belongs to no payin or payout: give its organization with --org ID';
    case 'organization_mismatch':
      return 'the anomaly belongs to another organization: omit --org';
    case 'organization_not_found':
      return 'there is no such organization (see org list)';
    case 'insufficient_balance':
      return 'the available balance of the organization does not cover it; no money was moved';
  }
}

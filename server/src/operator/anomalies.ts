import type { Anomaly } from '../anomalies/anomaly.ts';
import type { SystemDeps } from '../deps.ts';
import { listAnomalies, type ResolveOutcome, resolve } from '../flows/payins/resolve-anomaly.ts';
import { type HeldOutcome, resolveHeldPayin } from '../flows/payins/resolve-held-payin.ts';
import { findReceiver, returnTo } from '../flows/payouts/return-money.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { readReceiverKey } from '../payouts/receiver-key.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MOST_LISTED = 1000;

export async function anomaliesList(deps: SystemDeps, options: Options): Promise<Output> {
  const anomalies = await listAnomalies(deps, options.given('all'), MOST_LISTED);
  return {
    json: anomalies.map(({ amount, ...rest }) => ({
      ...rest,
      amountInCents: amount === null ? null : Number(amount),
    })),
    text:
      anomalies.map(line).join('\n') +
        (anomalies.length === MOST_LISTED ? `\n(and perhaps more: ${MOST_LISTED} are shown)` : '') ||
      (options.given('all') ? 'There has been no anomaly.' : 'Nothing waits for you.'),
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
  const accepted = anomaly.acceptedAt === null ? '' : '  accepted by its merchant';
  const end = anomaly.resolution === null ? accepted : `  ${anomaly.resolution} by ${anomaly.resolvedBy}`;
  return `${anomaly.id}  ${anomaly.noticedAt.toISOString()}  ${anomaly.rail.padEnd(5)}  ${anomaly.kind.padEnd(13)}  ${money}  ${about}${end}`;
}

const SUSPENSE_WAYS = ['credit', 'return', 'charge', 'write-off', 'dismiss'] as const;
const HELD_WAYS = ['release', 'reverse'] as const;

export async function anomaliesResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const [id] = options.words;
  if (id === undefined || !isUuid(id))
    throw new UsageError('anomalies resolve needs the id of an anomaly (anomalies list shows them)');
  const [way, other] = [...SUSPENSE_WAYS, ...HELD_WAYS].filter((each) => options.given(each));
  if (way === undefined || other !== undefined)
    throw new UsageError(
      'say one of --credit, --return, --charge, --write-off and --dismiss, or of --release and --reverse',
    );
  if (way === 'release' || way === 'reverse') return resolveHeld(deps, options, id, way);
  const organizationId = options.matching('org', /^[0-9a-f-]{36}$/, 'the id of an organization', '');
  if (organizationId !== '' && !isUuid(organizationId))
    throw new UsageError('--org must be the id of an organization');
  const note = options.matching('note', /^.{1,500}$/, 'a note of at most 500 letters', '') || null;
  const receiver = way === 'return' ? await receiverOf(deps, options) : null;
  const outcome = await resolve(deps, id, {
    how: way === 'write-off' ? 'write_off' : way,
    by: options.by,
    note,
    organizationId: organizationId || null,
    makeReturn: receiver && returnTo(deps, receiver),
  });
  if (outcome.kind !== 'resolved') throw new Error(refusal(outcome));
  const { returnPayoutId } = outcome;
  return {
    json: {
      id,
      resolution: outcome.anomaly.amount === null ? 'dismiss' : way,
      organizationId: outcome.organizationId,
      ...(returnPayoutId === null ? {} : { returnPayoutId }),
    },
    text: notification(outcome, way, receiver?.name ?? ''),
  };
}

async function resolveHeld(
  deps: SystemDeps,
  options: Options,
  id: string,
  how: (typeof HELD_WAYS)[number],
): Promise<Output> {
  const note = options.matching('note', /^.{1,500}$/, 'a note of at most 500 letters', '') || null;
  const outcome = await resolveHeldPayin(deps, id, { how, by: options.by, note });
  if (outcome.kind !== 'decided') throw new Error(heldRefusal(outcome));
  const { anomaly, amount } = outcome;
  const { organizationId, payinId } = anomaly;
  const money = `COP ${decimalPesos(amount)}`;
  return {
    json: { id, resolution: how, organizationId, payinId, amountInCents: Number(amount) },
    text:
      how === 'release'
        ? `${money} of payin ${payinId} settle with the next settlement run.`
        : `${money} moved from the pending balance of ${organizationId} back to the rail. Payin ${payinId} stays CONFIRMED, with settlementStatus REVERSED.`,
  };
}

function heldRefusal(outcome: Exclude<HeldOutcome, { kind: 'decided' }>): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'there is no such anomaly (anomalies list --all shows them)';
    case 'already_resolved':
      return `it was resolved before: ${outcome.anomaly.resolution} by ${outcome.anomaly.resolvedBy} at ${outcome.anomaly.resolvedAt?.toISOString()}`;
    case 'not_held':
      return 'it holds no settlement: --release and --reverse are for anomalies of kind payment_not_listed';
  }
}

/** Asked of the directory before anything is written: who would get the money. */
async function receiverOf(deps: SystemDeps, options: Options) {
  const read = readReceiverKey(options.required('key'));
  if (!read) throw new UsageError('--key cannot be a Bre-B key');
  const name = options.matching('name', /^.{1,120}$/, 'a name of at most 120 letters', '') || null;
  const receiver = await findReceiver(deps, read.key, name);
  if (!('kind' in receiver)) {
    // Money that went to a stranger does not come back: one letter of a key is another person.
    if (receiver.isNamed === false)
      throw new Error(`nothing was done: the key belongs to ${receiver.name}, which is not "${name}"`);
    if (receiver.isNamed === null && !options.given('yes'))
      throw new Error(
        `nothing was done: the key belongs to ${receiver.name}. If that is whom you mean, add --yes; or name them with --name, and it is compared`,
      );
    return receiver;
  }
  throw new Error(
    receiver.kind === 'no'
      ? `money cannot be sent to this key: ${receiver.errorCode}`
      : 'the network gave no clear answer about this key; nothing was done, try again',
  );
}

function notification(
  { anomaly, organizationId, returnPayoutId }: Extract<ResolveOutcome, { kind: 'resolved' }>,
  way: (typeof SUSPENSE_WAYS)[number],
  receiver: string,
): string {
  if (anomaly.amount === null) return `Anomaly ${anomaly.id} is put away.`;
  const money = `COP ${decimalPesos(anomaly.amount < 0n ? -anomaly.amount : anomaly.amount)}`;
  switch (way) {
    case 'return':
      return `${money} go to ${receiver}, by payout ${returnPayoutId}. Should it be declined, the anomaly is open again.`;
    case 'charge':
      return `${money} moved from the available balance of ${organizationId} to suspense, which owed it.`;
    case 'write-off':
      return `${money} moved from treasury to suspense, which owed it.`;
    default:
      return `${money} moved from suspense to the available balance of ${organizationId}.`;
  }
}

function refusal(outcome: Exclude<ResolveOutcome, { kind: 'resolved' }>): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'there is no such anomaly (anomalies list --all shows them)';
    case 'already_resolved':
      return `it was resolved before: ${outcome.anomaly.resolution} by ${outcome.anomaly.resolvedBy} at ${outcome.anomaly.resolvedAt?.toISOString()}`;
    case 'accepted':
      return `its merchant accepted it at ${outcome.anomaly.acceptedAt?.toISOString()} (API key ${outcome.anomaly.acceptedBy}); a worker credits it`;
    case 'no_money':
      return 'no money came with it, so there is none to move; --dismiss puts it away';
    case 'holds_money':
      return 'it is about money, which must go somewhere: --credit or --return what came, --charge or --write-off what left';
    case 'is_incoming':
      return 'money came with it: --credit gives it to the merchant, --return sends it back';
    case 'is_outgoing':
      return 'money left with it: --charge takes it from the merchant, --write-off bears it';
    case 'settlement_held':
      return 'it holds the settlement of a payin: --release lets it settle, --reverse takes the booking back';
    case 'organization_required':
      return 'the money belongs to nothing of ours: say whose it is with --org ID';
    case 'organization_mismatch':
      return 'it belongs to another organization: leave --org out';
    case 'organization_not_found':
      return 'there is no such organization (org list shows them)';
    case 'insufficient_balance':
      return 'the available balance of the organization does not cover it; nothing was moved';
  }
}

import type { SystemDeps } from '../deps.ts';
import { type KeyReport, readKeyReport } from '../flows/operations/read-key-activity.system.ts';
import { decimalPesos } from '../kit/money.ts';
import { readTime } from './audit.ts';
import { keyState } from './keys.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function keysActivity(deps: SystemDeps, options: Options): Promise<Output> {
  const [keyId] = options.args;
  if (keyId === undefined) throw new UsageError('keys activity needs the id of an API key (see keys list)');
  const span = { since: readTime(options, 'since'), until: readTime(options, 'until') };
  const report = await readKeyReport(deps, keyId, span);
  if (!report) throw new Error(`there is no API key ${keyId}`);
  const state = keyState(report.key, deps.clock.time());
  return { json: toJson(report, state), text: toText(report, state) };
}

function toJson({ key, since, networks, activity, truncated }: KeyReport, state: string): object {
  const rows = Object.entries(activity).map(([kind, found]: [string, readonly object[]]) => [
    kind,
    found.map(withNumber),
  ]);
  return {
    key: { ...key, state },
    since,
    networks,
    ...Object.fromEntries(rows),
    truncated,
  };
}

/** JSON has no bigint. */
function withNumber({ amount, ...row }: { readonly amount?: bigint }): object {
  return amount === undefined ? row : { ...row, amountInCents: Number(amount) };
}

function toText({ key, since, networks, activity, truncated, maxRows }: KeyReport, state: string): string {
  const { payins, payouts, paymentLinks, webhookEndpoints, keyLookups, acceptedAnomalies } = activity;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      'Networks',
      networks.map(
        ({ network, firstSeenAt, lastSeenAt }) =>
          `${network}  ${firstSeenAt.toISOString()} to ${lastSeenAt.toISOString()}`,
      ),
    ],
    ['Payins', payins.map((row) => `${start(row)}  ${money(row)}  ${row.status}  ${row.reference}`)],
    [
      'Payouts',
      payouts.map(
        (row) =>
          `${start(row)}  ${money(row)}  ${row.status}${row.unsent ? ' (unsent)' : ''}  ${row.reference}`,
      ),
    ],
    [
      'Payment links',
      paymentLinks.map((row) => `${start(row)}  ${money(row)}  ${row.status}  ${row.reference}`),
    ],
    ['Webhook endpoints', webhookEndpoints.map((row) => `${start(row)}  ${row.status}`)],
    ['Key lookups', keyLookups.map(start)],
    [
      'Accepted anomalies',
      acceptedAnomalies.map((row) => `${start(row)}  ${money(row)}  payin ${row.payinId}`),
    ],
    [
      'Changes',
      activity.actions.map((row) => `${start(row)}  ${row.action}  ${row.resourceId ?? 'several'}`),
    ],
    [
      'Transfers',
      activity.transfers.map(
        (row) =>
          `${start(row)}  ${money(row)}  ${row.debit} to ${row.credit}  ${row.cause}  ${row.resourceId ?? '-'}`,
      ),
    ],
  ];
  const head = `API key ${key.id} (${key.name}) of organization ${key.organizationId}: ${state}\nSince ${since.toISOString()}`;
  const cut = truncated
    ? [`Only the newest ${maxRows} of each kind are listed. List older ones with an earlier --until.`]
    : [];
  return [head, ...sections.map(([title, lines]) => section(title, lines)), ...cut].join('\n\n');
}

function section(title: string, lines: readonly string[]): string {
  return [
    `${title}: ${lines.length === 0 ? 'none' : lines.length}`,
    ...lines.map((line) => `  ${line}`),
  ].join('\n');
}

function start({ id, createdAt }: { readonly id: string; readonly createdAt: Date }): string {
  return `${createdAt.toISOString()}  ${id}`;
}

function money({ amount }: { readonly amount: bigint }): string {
  return `COP ${decimalPesos(amount)}`;
}

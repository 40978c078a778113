import type { Screen } from './client-link-facts.ts';
import { isUnderpaid } from './ledger-invariants.ts';
import type { LinkRow } from './link-rows.ts';
import type { Execution } from './rail-facts.ts';
import type { AnomalyRow, PayinRow } from './rows.ts';
import { readStatements, type ScreenStatements } from './screen-statements.ts';
import type { Violation, World } from './world.ts';

/** Anomalies of payments that screens mention, and the statement that mentions each. */
const UNEXPECTED = { paid_late: 'late', paid_again: 'again', overpaid: 'excess' } as const;
type UnexpectedKind = keyof typeof UNEXPECTED;

/** What is known about a link in the end; a screen is compared with the part of it that was posted at its time. */
interface LinkFacts {
  readonly link: LinkRow;
  readonly payins: readonly PayinRow[];
  /** The postings of each attempt. */
  readonly postings: ReadonlyMap<string, readonly string[]>;
  /** Amounts of underpaid attempts, by the posting of each. */
  readonly parts: ReadonlyMap<string, bigint>;
  /** The posting that completed the link. */
  readonly completedBy: string | null;
  readonly unexpected: readonly {
    readonly posting: string;
    readonly kind: UnexpectedKind;
    readonly amount: bigint;
  }[];
  /** Payments at the rails that happened while the attempt was open there. */
  readonly executions: readonly Execution[];
}

/**
 * Every screen that a payer saw was true at a moment between its request and its response: according to the ledger as read
 * before and after, and according to the rails' journal.
 */
export function screenViolations(world: World): Violation[] {
  const facts = gatherFacts(world);
  return world.client.links.screens.flatMap((screen): Violation[] => {
    const about = facts.get(screen.linkId);
    if (!about) return [];
    const statements = readStatements(screen.text);
    return findFalseStatements(about, screen, statements).map((detail) => ({
      invariant: 'screens_are_true',
      detail,
      row: { screen, link: about.link },
    }));
  });
}

function gatherFacts({ rows, rail, findOwner, client }: World): ReadonlyMap<string, LinkFacts> {
  const shown = new Set(client.links.screens.map(({ linkId }) => linkId));
  const payinsByLink = Map.groupBy(rows.payins, ({ linkId }) => linkId ?? '');
  const transfers = Map.groupBy(
    rows.transfers.filter(({ causeKind }) => causeKind === 'payment'),
    ({ resourceId }) => resourceId ?? '',
  );
  const anomalies = Map.groupBy(rows.anomalies, ({ payinId }) => payinId ?? '');
  const executions = Map.groupBy(
    rail.executions.filter((execution) => isWhileOpen(rail, execution)),
    ({ rail: name, reference }) => findOwner(name, reference)?.linkId ?? '',
  );
  const unexpected = new Set(
    rows.anomalies.filter(({ kind }) => kind === 'paid_late' || kind === 'paid_again').map(toCauseId),
  );
  /** The posting of the confirmed amount of an attempt. A second payment may have the same amount. */
  const postingOf = (payin: PayinRow) => {
    const transfer = (transfers.get(payin.id) ?? []).find(
      ({ amount, causeId }) => amount === payin.confirmed && !unexpected.has(causeId),
    );
    return transfer ? `payment ${transfer.causeId}` : '';
  };
  return new Map(
    rows.links.all
      .filter(({ id }) => shown.has(id))
      .map((link): [string, LinkFacts] => {
        const payins = payinsByLink.get(link.id) ?? [];
        const completing = payins.find(({ id }) => id === link.payinId);
        return [
          link.id,
          {
            link,
            payins,
            postings: new Map(
              payins.map(({ id }) => [
                id,
                (transfers.get(id) ?? []).map(({ causeId }) => `payment ${causeId}`),
              ]),
            ),
            parts: new Map(
              payins.filter(isUnderpaid).map((payin) => [postingOf(payin), payin.confirmed ?? 0n]),
            ),
            completedBy: link.status === 'COMPLETED' && completing ? postingOf(completing) : null,
            unexpected: payins.flatMap(({ id }) => (anomalies.get(id) ?? []).flatMap(toUnexpected)),
            executions: executions.get(link.id) ?? [],
          },
        ];
      }),
  );
}

/** The rail had not reported an end before the payment, and never reported one that contradicts it. */
function isWhileOpen({ ends, closed }: World['rail'], { reference, seq }: Execution): boolean {
  const end = ends.find((each) => each.reference === reference && (each.seq < seq || each.contradicts));
  return end === undefined && (closed.get(reference)?.seq ?? Number.POSITIVE_INFINITY) > seq;
}

function toUnexpected(anomaly: AnomalyRow) {
  const { kind, executionId, amount } = anomaly;
  if (!(kind in UNEXPECTED) || executionId === null || amount === null) return [];
  const cause = kind === 'overpaid' ? 'payment_excess' : 'payment';
  return [{ posting: `${cause} ${toCauseId(anomaly)}`, kind: kind as UnexpectedKind, amount }];
}

function toCauseId({ rail, executionId }: AnomalyRow): string {
  return `${rail}:${executionId}`;
}

function findFalseStatements(facts: LinkFacts, screen: Screen, statements: ScreenStatements): string[] {
  const { kind } = statements;
  if (kind === null) return ['a screen with an unknown title'];
  if (screen.status >= 400)
    return statements.nothingCharged ? ['an error page says that nothing was charged'] : [];
  return [
    ...nothingChargedErrors(facts, screen, statements),
    ...partErrors(facts, screen, statements),
    ...completionErrors(facts, screen, statements),
    ...mentionErrors(facts, screen, statements),
    ...askedErrors(facts, screen, statements),
  ];
}

function nothingChargedErrors(
  { executions }: LinkFacts,
  { before, sentMs }: Screen,
  { nothingCharged }: ScreenStatements,
): string[] {
  if (!nothingCharged) return [];
  if (before.length > 0) return ['says that nothing was charged, but a payment is posted'];
  return executions.some(({ realMs }) => realMs < sentMs)
    ? ['says that nothing was charged, but the rail has a payment']
    : [];
}

function partErrors(facts: LinkFacts, screen: Screen, { kind, parts, missing }: ScreenStatements): string[] {
  const before = [...facts.parts].filter(([posting]) => screen.before.includes(posting));
  const meanwhile = [...facts.parts].filter(
    ([posting]) => screen.after.includes(posting) && !screen.before.includes(posting),
  );
  if (parts === null) return kind === 'start' && before.length > 0 ? ['forgets a part that was paid'] : [];
  const possible = meanwhile.reduce(
    (sums, [, amount]) => sums.concat(sums.map((sum) => sum + amount)),
    [before.reduce((sum, [, amount]) => sum + amount, 0n)],
  );
  return [
    ...(possible.includes(parts.received) ? [] : ['states another received amount than the ledger']),
    ...(parts.amount === facts.link.amount ? [] : ['states another amount than the link']),
    ...(missing === null || missing === parts.amount - parts.received
      ? []
      : ['states another missing amount']),
  ];
}

function completionErrors({ completedBy }: LinkFacts, screen: Screen, { kind }: ScreenStatements): string[] {
  const says = kind === 'completed' || kind === 'completed_by_other';
  if (says)
    return completedBy !== null && screen.after.includes(completedBy)
      ? []
      : ['says that the link is paid, but it is not'];
  // A browser that paid a second time sees its own payment instead.
  const paid = completedBy !== null && screen.before.includes(completedBy);
  return paid && kind !== 'held' ? ['does not say that the link is paid'] : [];
}

function mentionErrors({ unexpected }: LinkFacts, screen: Screen, statements: ScreenStatements): string[] {
  const wrong = Object.entries(UNEXPECTED).flatMap(([kind, field]) =>
    statements[field]
      .filter(
        (amount) =>
          !unexpected.some(
            (each) => each.kind === kind && each.amount === amount && screen.after.includes(each.posting),
          ),
      )
      .map(() => `mentions a payment that is not posted: ${kind}`),
  );
  const mentions = ['completed', 'held', 'parts', 'ended', 'link_expired'].includes(statements.kind ?? '');
  const missing = unexpected.filter(
    ({ kind, amount, posting }) =>
      mentions && screen.before.includes(posting) && !statements[UNEXPECTED[kind]].includes(amount),
  );
  return [...wrong, ...missing.map(({ kind }) => `does not mention a payment: ${kind}`)];
}

function askedErrors(
  { payins, postings }: LinkFacts,
  { key, before }: Screen,
  { kind, asked }: ScreenStatements,
): string[] {
  if (kind !== 'key') return [];
  const payin = payins.find((each) => each.key === key);
  if (!payin) return ['shows a key that is not of the link'];
  return [
    ...(asked === payin.amount ? [] : ['asks for another amount than its attempt']),
    ...(postings.get(payin.id)?.some((posting) => before.includes(posting))
      ? ['asks to pay a paid attempt']
      : []),
  ];
}

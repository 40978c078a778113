import type { Breach } from '../invariant-violation.ts';
import type { KnownLink } from '../known-link.ts';
import type { LinkRow } from '../snapshot.ts';
import { isFinal, isOnlyEvent, type View } from '../view.ts';
import { type StoredLink, storedLinks } from './link-attempts.ts';

/** Invariants of links and their attempts, which hold at any time. */
export function linkBreaches(view: View): Breach[] {
  const stored = new Map(storedLinks(view).map((link) => [link.row.id, link]));
  return [
    ...view.snapshot.unacknowledged.links.map(
      (id): Breach => ({ invariant: 'one_link_per_request', about: { unacknowledged: id } }),
    ),
    ...view.links.flatMap((known): Breach[] => {
      const link = stored.get(known.id);
      if (link?.row.cents !== String(known.cents))
        return [{ invariant: 'one_link_per_request', about: { known, link: link ?? null } }];
      return [
        ...attemptBreaches(link),
        ...eventBreaches(view, link.row),
        ...closingBreaches(known, link.row),
      ];
    }),
  ];
}

/** An open link refers to its open attempts, at most one per rail. An attempt of a completed link may still be open. */
function attemptBreaches({ row, attempts }: StoredLink): Breach[] {
  const open = attempts.filter(({ status }) => !isFinal(status));
  const on = (rail: string) => open.filter((attempt) => attempt.rail === rail).map(({ id }) => id);
  const references = (id: string | null) => (id === null ? [] : [id]);
  const valid =
    row.status === 'PENDING'
      ? on('BRE_B').join() === references(row.open_breb).join() &&
        on('PSE').join() === references(row.open_pse).join()
      : row.open_breb === null && row.open_pse === null && (row.status === 'COMPLETED' || open.length === 0);
  return valid ? [] : [{ invariant: 'one_open_attempt_per_rail', about: { link: row, open } }];
}

const EVENTS: Readonly<Record<string, string>> = {
  COMPLETED: 'paymentlink.completed',
  EXPIRED: 'paymentlink.expired',
};

function eventBreaches({ snapshot }: View, { id, status }: LinkRow): Breach[] {
  const events = snapshot.events.filter(({ resource }) => resource === id);
  return isOnlyEvent(events, EVENTS[status])
    ? []
    : [{ invariant: 'one_event_per_final_link', about: { link: id, status, events } }];
}

/** A link expires at its expiry or because the merchant closes it; an acknowledged closing holds. */
function closingBreaches({ closing }: KnownLink, row: LinkRow): Breach[] {
  const early = row.status === 'EXPIRED' && !row.after_expiry && closing === 'no';
  const reopened = closing === 'acknowledged' && !row.shut;
  return early || reopened ? [{ invariant: 'closed_link_stays_closed', about: { closing, link: row } }] : [];
}

/** When idle, a closed link without an open attempt has ended. */
export function unendedLinkBreaches({ snapshot }: View): Breach[] {
  return snapshot.links
    .filter(
      ({ status, shut, open_breb, open_pse }) =>
        status === 'PENDING' && shut && open_breb === null && open_pse === null,
    )
    .map((row) => ({ invariant: 'everything_final', about: row }));
}

/** At the end of a history, every link has ended. */
export function finalLinkBreaches({ snapshot }: View): Breach[] {
  return snapshot.links
    .filter(({ status }) => status === 'PENDING')
    .map((row) => ({ invariant: 'everything_final', about: row }));
}

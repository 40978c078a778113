import { BREB, type PlantedBug, pays } from './planted-bug.ts';

const MOVES = 'payins/payin-outcome.store.ts';
const LEDGER = 'ledger/ledger.store.ts';
const EVENTS = 'events/event.store.ts';
const DOOR = 'http/rail-notices/rail-notices.route.ts';

/** The server judges rightly and writes it down wrongly: outside the transaction, without a lock, not at all. */
export const BUGS_OF_WRITING: readonly PlantedBug[] = [
  {
    name: 'an acceptance is credited again and again',
    patches: [
      {
        file: 'anomalies/acceptance.store.ts',
        find: `"resolved_at = caudal.now(), resolution = 'credit', resolved_by = a.accepted_by"`,
        replace: `"note = 'credited'"`,
      },
      {
        file: 'flows/payins/post-acceptances.ts',
        find: 'cause: anomalyCause({ id, reversals }),',
        replace: `cause: { kind: 'anomaly', id: \`\${id}:\${crypto.randomUUID()}\` },`,
      },
      { file: 'flows/payins/post-acceptances.ts', find: 'return accepted.length;', replace: 'return 0;' },
    ],
    steps: [BREB, pays({ share: 'less', quiet: true }), { do: 'accept', nth: 0, quiet: true }],
    breaks: ['accepts', 'settled'],
  },
  {
    name: 'an acceptance is acknowledged and never credited',
    patches: [
      {
        file: 'anomalies/acceptance.store.ts',
        find: 'order by accepted_at limit $1 for update skip locked',
        replace: 'order by accepted_at limit 0',
      },
    ],
    steps: [BREB, pays({ share: 'more', quiet: true }), { do: 'accept', nth: 0, quiet: true }],
    breaks: ['rest', 'accepts'],
  },
  {
    name: 'the event is recorded outside the transaction',
    patches: [
      {
        file: 'flows/payins/apply-payin-updates.ts',
        find: `await recordFinalEvents(
    tx,
    [...eventsOf(deps, moved), ...linkEvents(deps, completed)],
    (organizationId) => secrets(organizationId).dataKey,
  );`,
        replace: `await deps.system.transaction('read', (own) =>
          recordFinalEvents(own, [...eventsOf(deps, moved), ...linkEvents(deps, completed)], (organizationId) => secrets(organizationId).dataKey));`,
      },
    ],
    steps: [
      BREB,
      { do: 'hold', what: 'balance' },
      pays({}),
      { do: 'await waiters', count: 1 },
      { do: 'let go', quiet: true },
    ],
    breaks: ['events'],
  },
  {
    name: 'payins are moved without lock and guard',
    patches: [
      {
        file: MOVES,
        find: 'order by p.organization_id, p.id for update of p`',
        replace: 'order by p.organization_id, p.id`',
      },
      {
        file: MOVES,
        find: ` and p.status = m.from_status and p.status in (\${statesBefore('CONFIRMED')})`,
        replace: '',
      },
      {
        file: MOVES,
        find: 'status, cause, updated_at from moved',
        replace: 'status, cause, updated_at from moved on conflict do nothing',
      },
      {
        file: EVENTS,
        find: 'select organization_id, resource_id, id, event from new\n',
        replace: 'select organization_id, resource_id, id, event from new on conflict do nothing\n',
      },
    ],
    steps: [
      BREB,
      { do: 'hold', what: 'payin', nth: 0 },
      pays({}),
      { do: 'await waiters', count: 1 },
      pays({}),
      { do: 'await waiters', count: 2 },
      { do: 'let go', quiet: true },
    ],
    breaks: ['confirms', 'events', 'absorbs'],
    workers: 2,
  },
  {
    name: 'a balance is read, added to and written',
    patches: [
      {
        file: LEDGER,
        find: 'select b.organization_id, b.account, c.amount from change c',
        replace: 'select b.organization_id, b.account, b.balance_in_cents + c.amount as amount from change c',
      },
      {
        file: LEDGER,
        find: 'order by b.organization_id, b.account for update of b',
        replace: 'order by b.organization_id, b.account',
      },
      {
        file: LEDGER,
        find: 'set balance_in_cents = b.balance_in_cents + l.amount',
        replace: 'set balance_in_cents = l.amount',
      },
    ],
    steps: [
      BREB,
      BREB,
      { do: 'hold', what: 'balance' },
      pays({ nth: 0 }),
      { do: 'await waiters', count: 1 },
      pays({ nth: 1 }),
      { do: 'await waiters', count: 2 },
      { do: 'let go', quiet: true },
    ],
    breaks: ['balances'],
    workers: 2,
  },
  {
    name: 'a transfer is posted without its cause',
    patches: [
      {
        file: LEDGER,
        find: 'select cause_kind, cause_id, organization_id, id from new order by',
        replace: `select cause_kind, cause_id, organization_id, id from new where credit <> 'suspense' order by`,
      },
    ],
    steps: [BREB, pays({ quiet: true }), pays({ anyway: true, quiet: true })],
    breaks: ['causes'],
  },
  {
    name: 'a move leaves no row in the history',
    patches: [
      {
        file: MOVES,
        find: 'status, cause, updated_at from moved',
        replace: `status, cause, updated_at from moved where status <> 'CANCELED'`,
      },
    ],
    steps: [BREB, { do: 'end', nth: 0, how: 'canceled', anyway: false, quiet: true }],
    breaks: ['history'],
  },
  {
    name: 'a notice is acknowledged before it is stored',
    patches: [
      { file: DOOR, find: '  await store(', replace: '  void store(' },
      {
        file: DOOR,
        find: 'notice: door.read(raw) })),\n  );',
        replace: 'notice: door.read(raw) })),\n  ).catch(() => undefined);',
      },
    ],
    steps: [
      BREB,
      { do: 'hold', what: 'notices' },
      pays({}),
      { do: 'await acknowledged' },
      { do: 'let go', quiet: true },
    ],
    breaks: ['stored'],
  },
  {
    name: 'the work of a dead worker is never taken over',
    patches: [
      {
        file: MOVES,
        find: '(leased_until is null or leased_until < clock_timestamp())',
        replace: 'leased_until is null',
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'ask', fault: 'hang', times: 1 },
      { do: 'shift', seconds: 31 },
      { do: 'await struck', count: 1 },
      { do: 'kill workers' },
      { do: 'clear' },
      { do: 'age claims', quiet: true },
    ],
    breaks: ['rest'],
  },
  {
    name: 'an idempotency key is not looked at',
    patches: [
      {
        file: 'flows/shared/create-once.ts',
        find: 'if (!holder || holder.resourceId === leader.id) {',
        replace: 'if (leader !== undefined) {',
      },
    ],
    steps: [BREB, { do: 'repeat', nth: 0, how: 'same', api: 1, quiet: true }],
    breaks: ['onePayin'],
  },
];

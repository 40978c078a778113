import { BREB, type PlantedBug, pays } from './planted-bug.ts';

const TRANSITIONS = 'payins/payin-outcome.store.ts';
const LEDGER = 'ledger/ledger.store.ts';
const EVENTS = 'events/event.store.ts';
const ROUTE = 'http/rail-notices/rail-notices.route.ts';

/** The server decides correctly but writes incorrectly: outside the transaction, without a lock, or not at all. */
export const WRITE_BUGS: readonly PlantedBug[] = [
  {
    name: 'an acceptance is credited repeatedly',
    patches: [
      {
        file: 'anomalies/acceptance.store.ts',
        find: `"resolved_at = caudal.now(), resolution = 'credit', resolved_by = a.accepted_by"`,
        replace: `"note = 'credited'"`,
      },
      {
        file: 'flows/payins/post-acceptances.system.ts',
        find: 'cause: anomalyCause({ id, reversals }),',
        replace: `cause: { kind: 'anomaly', id: \`\${id}:\${crypto.randomUUID()}\` },`,
      },
      {
        file: 'flows/payins/post-acceptances.system.ts',
        find: 'return accepted.length;',
        replace: 'return 0;',
      },
    ],
    steps: [BREB, pays({ share: 'less', awaitIdle: true }), { do: 'accept', nth: 0, awaitIdle: true }],
    breaks: ['acceptance_credited_once', 'funds_add_up'],
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
    steps: [BREB, pays({ share: 'more', awaitIdle: true }), { do: 'accept', nth: 0, awaitIdle: true }],
    breaks: ['work_completes', 'acceptance_credited_once'],
  },
  {
    name: 'the event is recorded outside the transaction',
    patches: [
      {
        file: 'flows/payins/apply-payin-updates.system.ts',
        find: `await recordFinalEvents(
    tx,
    [...toEvents(deps, transitioned, getDataKey), ...linkEvents(deps, completed, getDataKey)],
    getDataKey,
  );`,
        replace: `await deps.system.transaction('read', (own) =>
          recordFinalEvents(own, [...toEvents(deps, transitioned, getDataKey), ...linkEvents(deps, completed, getDataKey)], getDataKey));`,
      },
    ],
    steps: [
      BREB,
      { do: 'lock', what: 'balance' },
      pays({}),
      { do: 'await_lock_waiters', count: 1 },
      { do: 'release_locks', awaitIdle: true },
    ],
    breaks: ['one_event_per_final_state'],
  },
  {
    name: 'payin transitions use no lock and no status check',
    patches: [
      {
        file: TRANSITIONS,
        find: 'order by p.organization_id, p.id for update of p`',
        replace: 'order by p.organization_id, p.id`',
      },
      {
        file: TRANSITIONS,
        find: ` and p.status = m.from_status and p.status in (\${statesBefore('CONFIRMED')})`,
        replace: '',
      },
      {
        file: TRANSITIONS,
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
      { do: 'lock', what: 'payin', nth: 0 },
      pays({}),
      { do: 'await_lock_waiters', count: 1 },
      pays({}),
      { do: 'await_lock_waiters', count: 2 },
      { do: 'release_locks', awaitIdle: true },
    ],
    breaks: ['one_execution_confirms', 'one_event_per_final_state', 'final_state_immutable'],
    workers: 2,
  },
  {
    name: 'a balance update loses concurrent changes',
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
      { do: 'lock', what: 'balance' },
      pays({ nth: 0 }),
      { do: 'await_lock_waiters', count: 1 },
      pays({ nth: 1 }),
      { do: 'await_lock_waiters', count: 2 },
      { do: 'release_locks', awaitIdle: true },
    ],
    breaks: ['balances_match_transfers'],
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
    steps: [BREB, pays({ awaitIdle: true }), pays({ anyway: true, awaitIdle: true })],
    breaks: ['one_transfer_per_cause'],
  },
  {
    name: 'a transition is not recorded in the history',
    patches: [
      {
        file: TRANSITIONS,
        find: 'status, cause, updated_at from moved',
        replace: `status, cause, updated_at from moved where status <> 'CANCELED'`,
      },
    ],
    steps: [BREB, { do: 'end', nth: 0, how: 'canceled', anyway: false, awaitIdle: true }],
    breaks: ['history_matches_status'],
  },
  {
    name: 'a notice is acknowledged before it is stored',
    patches: [
      { file: ROUTE, find: '  await store(', replace: '  void store(' },
      {
        file: ROUTE,
        find: 'notice: endpoint.read(raw) })),\n    );',
        replace: 'notice: endpoint.read(raw) })),\n    ).catch(() => undefined);',
      },
    ],
    steps: [
      BREB,
      { do: 'lock', what: 'notices' },
      pays({}),
      { do: 'await_acknowledged' },
      { do: 'release_locks', awaitIdle: true },
    ],
    breaks: ['acknowledged_notice_stored'],
  },
  {
    name: 'the work of a dead worker is never taken over',
    patches: [
      {
        file: TRANSITIONS,
        find: '(leased_until is null or leased_until < clock_timestamp())',
        replace: 'leased_until is null',
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'query', fault: 'hang', times: 1 },
      { do: 'shift', seconds: 31 },
      { do: 'await_faults', count: 1 },
      { do: 'kill_workers' },
      { do: 'clear' },
      { do: 'age_leases', awaitIdle: true },
    ],
    breaks: ['work_completes'],
  },
  {
    name: 'the idempotency key is ignored',
    patches: [
      {
        file: 'flows/shared/create-once.ts',
        find: 'if (!holder || holder.resourceId === leader.id) {',
        replace: 'if (leader !== undefined) {',
      },
    ],
    steps: [BREB, { do: 'repeat', nth: 0, how: 'same', api: 1, awaitIdle: true }],
    breaks: ['one_payin_per_request'],
  },
];

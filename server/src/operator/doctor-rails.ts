import { deadline } from '../kit/deadline.ts';
import type { ClockDifference } from '../kit/http-probe.ts';
import type { GuardState } from '../organizations/sending-guard.store.ts';
import { RAILS, type Rail, type RailProbe } from '../rails/contract.ts';
import { duration, type Finding, fail, ok, warn } from './finding.ts';

/** The settings of each rail, named in remedies. */
const SETTINGS: Readonly<Record<Rail, { readonly address: string; readonly credentials: string }>> = {
  BRE_B: { address: 'BREB_URL', credentials: 'BREB_CLIENT_ID, BREB_CLIENT_SECRET' },
  PSE: { address: 'PSE_URL', credentials: 'PSE_ENTITY, PSE_SECRET' },
};

/** Payers notice slower answers. */
const SLOW_MS = 2000;

export function railFinding(rail: Rail, url: string, probe: RailProbe): Finding {
  const name = `rail ${rail}`;
  const { address, credentials } = SETTINGS[rail];
  switch (probe.kind) {
    case 'answers': {
      const message = `${url} answers in ${Math.round(probe.ms)} ms`;
      return probe.ms > deadline(SLOW_MS)
        ? warn(
            name,
            message,
            `payers wait for it; contact the operator of ${rail}, or: caudal rails pause --rail ${rail} --reason … --by NAME`,
          )
        : ok(name, message);
    }
    case 'unauthorized':
      return fail(
        name,
        `${url} rejects our credentials (${probe.status})`,
        `correct ${credentials}, then restart every process`,
      );
    case 'unavailable':
      return fail(
        name,
        `${url} is unavailable: ${probe.cause}`,
        `check ${address} and the network; while it is down: caudal rails pause --rail ${rail} --reason … --by NAME`,
      );
  }
}

const WARN_MS = 2000;
const FAIL_MS = 30_000;

/** Compares this machine's clock with its peers. The uncertainty of the network delay counts as no difference. */
export function clockFinding(
  peers: ReadonlyMap<string, ClockDifference>,
  shiftSeconds: number | null,
): Finding {
  const off = [...peers].flatMap(([peer, { ms, withinMs }]) => {
    const least = Math.max(0, Math.abs(ms) - withinMs);
    return least <= WARN_MS ? [] : [{ peer, ms, least }];
  });
  const shift = shiftSeconds === null || shiftSeconds === 0 ? null : shifted(shiftSeconds);
  if (off.length === 0 && peers.size === 0)
    return { name: 'clock', status: 'skip', message: 'no other clock to compare with', todo: null };
  if (off.length === 0)
    return shift ?? ok('clock', `agrees with ${[...peers.keys()].join(', ')} (within 2 s)`);
  const message = off.map(
    ({ peer, ms }) => `${peer} is ${duration(ms / 1000)} ${ms > 0 ? 'ahead of' : 'behind'} this machine`,
  );
  const allDiffer = off.length === peers.size && peers.size > 1;
  const todo = `synchronize ${allDiffer ? "this machine's clock" : 'the clock that is wrong'} (chronyc tracking, timedatectl): expiry and signatures depend on it`;
  const text = [...message, ...(shift ? [shift.message] : [])].join('\n');
  return off.some(({ least }) => least > FAIL_MS) ? fail('clock', text, todo) : warn('clock', text, todo);
}

/** Only outside production, where the database rejects a time shift. */
function shifted(seconds: number): Finding {
  return warn(
    'clock',
    `business time is shifted by ${duration(seconds)} ${seconds > 0 ? 'forward' : 'back'} for tests (caudal.shift_time)`,
    'no action needed if it is intended; a new database has no shift',
  );
}

export function pausesFinding(
  pauses: readonly {
    readonly rail: Rail;
    readonly organizationId: string | null;
    readonly reason: string;
    readonly pausedBy: string;
    readonly pausedAt: Date;
  }[],
): Finding {
  if (pauses.length === 0) return ok('pauses', `none: ${RAILS.join(' and ')} accept orders`);
  const message = pauses.map(
    ({ rail, organizationId, reason, pausedBy, pausedAt }) =>
      `${rail} for ${organizationId ?? 'every organization'} since ${pausedAt.toISOString()} by ${pausedBy} (${reason})`,
  );
  const [first] = pauses;
  const orgOption = first?.organizationId ? ` --org ${first.organizationId}` : '';
  return warn(
    'pauses',
    message.join('\n'),
    `to resume: caudal rails resume --rail ${first?.rail}${orgOption} --by NAME`,
  );
}

/** Whether all sending is paused, because the database is or may be a restored one. */
export function sendingFinding({ hold, confirmedAt, pausedAt, pausedBy, reason }: GuardState): Finding {
  const remedy =
    'caudal rails reconcile-after-restore --since TIME --by NAME, with the time to which the database was restored';
  if (hold === null)
    return ok('sending', `allowed: the database is the one confirmed at ${confirmedAt.toISOString()}`);
  if (hold === 'paused')
    return fail(
      'sending',
      `all sending is paused since ${pausedAt?.toISOString()} by ${pausedBy}: ${reason}`,
      remedy,
    );
  return fail(
    'sending',
    'all sending is paused: the database is a copy, was restored, or has failed over without a running process that could confirm it',
    remedy,
  );
}

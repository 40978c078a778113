import type { ClockDifference } from '../kit/http-probe.ts';
import { RAILS, type Rail, type RailProbe } from '../rails/contract.ts';
import { duration, type Finding, fail, ok, warn } from './finding.ts';

/** What is set for each rail, for whoever has to correct it. */
const SETTINGS: Readonly<Record<Rail, { readonly address: string; readonly credentials: string }>> = {
  BRE_B: { address: 'BREB_URL', credentials: 'BREB_CLIENT_ID, BREB_CLIENT_SECRET' },
  PSE: { address: 'PSE_URL', credentials: 'PSE_ENTITY, PSE_SECRET' },
};

/** Slower than this, payers wait visibly. */
const SLOW_MS = 2000;

export function railFinding(rail: Rail, url: string, probe: RailProbe): Finding {
  const name = `rail ${rail}`;
  const { address, credentials } = SETTINGS[rail];
  switch (probe.kind) {
    case 'answers': {
      const says = `${url} answers in ${Math.round(probe.ms)} ms`;
      return probe.ms > SLOW_MS
        ? warn(
            name,
            says,
            `payers wait for it; ask ${rail}'s operators, or: caudal rails pause --rail ${rail} --reason … --by NAME`,
          )
        : ok(name, says);
    }
    case 'unauthorized':
      return fail(
        name,
        `${url} refuses our credentials (${probe.status})`,
        `correct ${credentials}, then restart every process`,
      );
    case 'unavailable':
      return fail(
        name,
        `${url} cannot be used: ${probe.cause}`,
        `check ${address} and the way there; while it is down: caudal rails pause --rail ${rail} --reason … --by …`,
      );
  }
}

const WARN_MS = 2000;
const FAIL_MS = 30_000;

/** This machine's clock against everybody else's. Whatever the journey leaves open counts as no difference. */
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
    return { name: 'clock', status: 'skip', says: 'nobody to compare it with', todo: null };
  if (off.length === 0)
    return shift ?? ok('clock', `agrees with ${[...peers.keys()].join(', ')} (within 2 s)`);
  const says = off.map(
    ({ peer, ms }) => `${peer} is ${duration(ms / 1000)} ${ms > 0 ? 'ahead of' : 'behind'} this machine`,
  );
  const everybody = off.length === peers.size && peers.size > 1;
  const todo = `synchronise ${everybody ? "this machine's clock" : 'the one that is wrong'} (chronyc tracking, timedatectl): expiry and signatures go by it`;
  const text = [...says, ...(shift ? [shift.says] : [])].join('\n');
  return off.some(({ least }) => least > FAIL_MS) ? fail('clock', text, todo) : warn('clock', text, todo);
}

/** Only outside production: its database refuses it. */
function shifted(seconds: number): Finding {
  return warn(
    'clock',
    `business time is shifted by ${duration(seconds)} ${seconds > 0 ? 'forward' : 'back'} for tests (caudal.shift_time)`,
    'nothing, if you did it; a database made anew has none',
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
  if (pauses.length === 0) return ok('pauses', `none: ${RAILS.join(' and ')} take orders`);
  const says = pauses.map(
    ({ rail, organizationId, reason, pausedBy, pausedAt }) =>
      `${rail} for ${organizationId ?? 'everybody'} since ${pausedAt.toISOString()} by ${pausedBy} (${reason})`,
  );
  const [first] = pauses;
  const reach = first?.organizationId ? ` --org ${first.organizationId}` : '';
  return warn(
    'pauses',
    says.join('\n'),
    `when it is over: caudal rails resume --rail ${first?.rail}${reach} --by NAME`,
  );
}

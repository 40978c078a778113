import { print } from '../../../chaos/src/run/outcome.ts';
import { TIMED } from '../../../scripts/testing/expect-within.ts';
import { generate } from '../generate/generate.ts';
import type { FuzzRequest } from '../generate/request.ts';
import { checkResponse, SLOW_MS, type Verdict } from '../oracle/oracle.ts';
import { collectFromPage, collectValues } from '../tenants/collect.ts';
import type { Answer } from '../wire/answer.ts';
import { Sender } from './exchange.ts';
import { Pace } from './pace.ts';
import { Results } from './results.ts';
import type { Stage } from './stage.ts';

const CONNECTIONS_PER_API = 24;
const PROGRESS_MS = 15_000;
/** The server may close the connection while a body beyond its limit is still being sent. */
const LARGE_BODY_BYTES = 60_000;

export interface RunOptions {
  /** First and last request of the seed's list. */
  readonly from: number;
  readonly until: number;
  /** Changes a response before it is checked: shows that the oracle notices. */
  readonly corrupt?: (request: FuzzRequest, answer: Answer) => Answer;
  /** Receives the violations instead of printing them. */
  readonly onViolations?: (verdict: Verdict, request: FuzzRequest) => void;
  readonly stopAtMs?: number;
}

/** Sends the requests of a seed, several at a time, and checks every response. */
export async function runRequests(stage: Stage, options: RunOptions): Promise<Results> {
  const results = new Results();
  const pace = new Pace();
  const startedAt = performance.now();
  let next = options.from;
  let printedAt = startedAt;
  const worker = async (port: number) => {
    const sender = new Sender(port);
    while (next < options.until && performance.now() < (options.stopAtMs ?? Number.POSITIVE_INFINITY)) {
      const index = next;
      next += 1;
      await exchange(stage, sender, index, { results, pace }, options);
      if (performance.now() - printedAt < PROGRESS_MS) continue;
      printedAt = performance.now();
      printProgress(results, options, index, startedAt);
    }
    sender.close();
  };
  const ports = stage.ports.flatMap((port) => Array.from({ length: CONNECTIONS_PER_API }, () => port));
  await Promise.all(ports.map(worker));
  return results;
}

function printProgress(results: Results, { until }: RunOptions, index: number, startedAt: number): void {
  const rate = Math.round(results.requests / ((performance.now() - startedAt) / 1000));
  const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
  print(
    `  request ${index.toLocaleString('en')} of ${until.toLocaleString('en')}, ${rate}/s, ${memory} MB, ` +
      `${results.violations} violations (continue with --from ${index})`,
  );
}

async function exchange(
  stage: Stage,
  sender: Sender,
  index: number,
  { results, pace }: { readonly results: Results; readonly pace: Pace },
  { corrupt, onViolations }: RunOptions,
): Promise<void> {
  const request = generate(stage, index);
  const received = await sender.send(request).catch(() => null);
  const timed = received && withoutOverload(pace, results, received);
  const answer = timed && corrupt ? corrupt(request, timed) : timed;
  const verdict = answer === null ? checkSilence(request) : checkResponse(stage.oracle, request, answer);
  results.count(request, answer, verdict);
  // A planted value must not become one of the organization's own.
  if (answer !== null && !corrupt) remember(stage, request, answer, verdict);
  if (onViolations) return onViolations(verdict, request);
  for (const violation of verdict.violations) results.report(request, sender.port, violation, stage.seed);
}

/** Only a timed run asserts durations. On an overloaded machine every response is late: it is counted, but is no violation. */
function withoutOverload(pace: Pace, results: Results, answer: Answer): Answer {
  pace.add(answer.ms);
  results.slowestMs = Math.max(results.slowestMs, answer.ms);
  if (answer.ms <= SLOW_MS || (TIMED && !pace.isOverloaded)) return answer;
  results.slowByOverload += 1;
  return { ...answer, ms: 0 };
}

/** A response is owed to every request that is complete and not too large. */
function checkSilence(
  request: FuzzRequest,
): Pick<Verdict, 'violations' | 'unavailable' | 'operation' | 'success'> {
  const maySilence = request.raw !== undefined || (request.body?.length ?? 0) > LARGE_BODY_BYTES;
  const detail = 'the connection was closed without a response';
  return {
    violations: maySilence ? [] : [{ rule: 'no answer', detail }],
    unavailable: null,
    operation: null,
    success: null,
  };
}

/** Keeps what the organization now knows, for its own later requests and for the other's. */
function remember(stage: Stage, request: FuzzRequest, answer: Answer, { operation, success }: Verdict): void {
  const { tenant: name } = request;
  if (name !== 'a' && name !== 'b') return;
  const tenant = stage[name];
  if (operation && success !== null) {
    const text = answer.body.toString('utf8');
    stage.ownership.learn(name, text);
    collectValues(tenant, operation, success);
  } else if (request.subject === 'checkout pages' && answer.status < 400) collectFromPage(tenant, answer);
}

import { print } from '../../../chaos/src/run/outcome.ts';
import { type FuzzRequest, toCommand } from '../generate/request.ts';
import type { Verdict } from '../oracle/oracle.ts';
import type { Violation } from '../oracle/violation.ts';
import type { Answer } from '../wire/answer.ts';

const SHOWN_PER_RULE = 5;

/** Counts of a run. */
export class Results {
  readonly statuses = new Map<string, number>();
  /** Requests and violations by subject. */
  readonly subjects = new Map<string, { requests: number; violations: number }>();
  readonly unavailable = new Map<string, number>();
  readonly rules = new Map<string, number>();
  requests = 0;
  unanswered = 0;
  slowestMs = 0;
  /** Responses that were late because the machine was overloaded. */
  slowByOverload = 0;

  count(
    { subject }: FuzzRequest,
    answer: Answer | null,
    verdict: Pick<Verdict, 'violations' | 'unavailable'>,
  ): void {
    this.requests += 1;
    const entry = this.subjects.get(subject) ?? { requests: 0, violations: 0 };
    this.subjects.set(subject, entry);
    entry.requests += 1;
    entry.violations += verdict.violations.length;
    if (answer === null) this.unanswered += 1;
    else add(this.statuses, String(answer.status));
    if (verdict.unavailable !== null) add(this.unavailable, verdict.unavailable);
  }

  /** Prints the first violations of each rule with the command that repeats the request. */
  report(request: FuzzRequest, port: number, { rule, detail }: Violation, seed: number): void {
    add(this.rules, rule);
    if ((this.rules.get(rule) ?? 0) > SHOWN_PER_RULE) return;
    print(`  FAIL  ${rule}: ${detail}`);
    print(`        seed ${seed}, request ${request.index} (${request.subject})`);
    print(`        ${toCommand(request, port)}`);
  }

  get violations(): number {
    return [...this.rules.values()].reduce((sum, count) => sum + count, 0);
  }

  describeStatuses(): string {
    return describe(this.statuses);
  }
}

export function describe(counts: ReadonlyMap<string, number>): string {
  const entries = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([name, count]) => `${name} ${count.toLocaleString('en')}`).join(' · ') || 'none';
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

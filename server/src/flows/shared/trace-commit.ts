import { monotonicMs } from '../../kit/clock.ts';
import type { TraceContext } from '../../kit/trace-context.ts';
import { type Tracer, traceShared } from '../../kit/tracer.ts';

export interface TracedCommand {
  readonly id: string;
  readonly organization: { readonly id: string };
  /** The trace of the request and when its command was made; null when the request is not sampled. */
  readonly trace: { readonly context: TraceContext; readonly sinceMs: number } | null;
}

/** The wait of each sampled command for its batch, and the commit that it shares with the others. */
export function traceCommit<T>(
  tracer: Tracer,
  task: string,
  commands: readonly TracedCommand[],
  commit: () => Promise<T>,
): Promise<T> {
  if (commands.every(({ trace }) => trace === null)) return commit();
  for (const { trace } of commands)
    if (trace)
      tracer
        .startSpan('wait for batch', {
          parent: trace.context,
          kind: 'internal',
          startedMsAgo: monotonicMs() - trace.sinceMs,
        })
        ?.end();
  const parents = commands.map(({ trace }) => trace?.context ?? null);
  const describe = (_result: T, index: number) => {
    const command = commands[index];
    return command
      ? {
          attributes: { 'caudal.organization.id': command.organization.id, 'caudal.resource.id': command.id },
        }
      : {};
  };
  return traceShared(tracer, parents, { name: `commit ${task}`, kind: 'internal', describe }, commit);
}

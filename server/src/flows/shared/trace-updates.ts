import { unpackTraceContext } from '../../kit/trace-context.ts';
import type { Tracer } from '../../kit/tracer.ts';
import type { Rail } from '../../rails/contract.ts';

/** A notification whose effect is committed. */
interface AppliedNotification {
  readonly rail: Rail;
  readonly update: { readonly kind: string };
  /** Since it was received. */
  readonly ageMs: number;
  /** The stored trace of its payin or payout. */
  readonly traceContext: Buffer | null;
}

/** A span in the trace of each payment, from the reception of a notification to the commit of its effect. */
export function traceNotifications(tracer: Tracer, applied: readonly AppliedNotification[]): void {
  for (const { rail, update, ageMs, traceContext } of applied) {
    const parent = unpackTraceContext(traceContext);
    if (parent === null) continue;
    const attributes = { 'caudal.rail': rail, 'caudal.notification.kind': update.kind };
    tracer
      .startSpan(`${rail} notification`, { parent, kind: 'consumer', attributes, startedMsAgo: ageMs })
      ?.end();
  }
}

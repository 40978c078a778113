import { verdictOf } from '../../db/failures.ts';
import type { SystemDeps } from '../../deps.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { sealNotice } from '../../rail-notices/notice.seal.ts';
import { insertNotices, type NewNotice } from '../../rail-notices/notice.store.ts';
import type { Rail, RailNotice } from '../../rails/contract.ts';

/** A message of a rail: as it came, and as it was understood (null when it was not). */
export interface ReceivedNotice {
  readonly raw: unknown;
  readonly notice: RailNotice | null;
}

/** Keeps what rails tell us. Nothing is made of it here: whoever told us is answered as soon as it is on disk. */
export class NoticeIntake {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #batcher: Batcher<readonly NewNotice[], null>;
  readonly #received: Counter;

  constructor(deps: SystemDeps, keys: DataKeys) {
    this.#deps = deps;
    this.#keys = keys;
    this.#received = deps.metrics.counter(
      'caudal_rail_notices_total',
      'Messages of rails, by what they say.',
    );
    this.#batcher = new Batcher({
      run: async (posts) => {
        const notices = posts.flat();
        await deps.system.transaction('store notices', (tx) => insertNotices(tx, notices));
        for (const about of new Set(notices.map((notice) => notice.about)))
          deps.signals.raise(about === 'payin' ? 'payin_notices' : 'payout_notices');
        return posts.map(() => null);
      },
      verdict: verdictOf,
      groupOf: ([first]) => first?.rail ?? '',
      maxBatch: 40,
      maxQueue: 2000,
      lanes: 1,
    });
  }

  /** Resolves when they are on disk; rejects when that is not known, and the rail sends them again. */
  async store(rail: Rail, received: readonly ReceivedNotice[]): Promise<void> {
    const secrets = await this.#keys.of(new Set([OPERATOR_ORGANIZATION_ID]));
    const { dataKey } = secrets(OPERATOR_ORGANIZATION_ID);
    const notices = received.map(({ raw, notice }): NewNotice => {
      const id = uuidv7(this.#deps.clock.now(), this.#deps.cell);
      return {
        id,
        organizationId: OPERATOR_ORGANIZATION_ID,
        rail,
        about: notice?.about ?? 'payin',
        noticeId: notice?.noticeId ?? null,
        reference: notice?.reference ?? '',
        update: notice?.update ?? { kind: 'unreadable' },
        sealedRaw: sealNotice(dataKey, raw, OPERATOR_ORGANIZATION_ID, id),
      };
    });
    await this.#batcher.submit(notices);
    for (const { update } of notices) this.#received.add({ rail, update: update.kind });
    const unreadable = notices.filter(({ update }) => update.kind === 'unreadable').length;
    if (unreadable > 0)
      this.#deps.log.error(
        { rail, count: unreadable },
        'a rail sent notices that cannot be read; they are kept',
      );
  }

  close(): Promise<void> {
    return this.#batcher.close();
  }
}

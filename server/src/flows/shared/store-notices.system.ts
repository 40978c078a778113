import { classifyFailure } from '../../db/failures.ts';
import type { SystemDeps } from '../../deps.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { encryptNotice } from '../../rail-notices/notice.encryption.ts';
import { insertNotices, type NewNotice } from '../../rail-notices/notice.store.ts';
import { RAILS, type Rail, type RailNotice } from '../../rails/contract.ts';

/** A notification of a rail: the raw message, and the parsed one (null when it could not be parsed). */
export interface ReceivedNotice {
  readonly raw: unknown;
  readonly notice: RailNotice | null;
}

/** Stores notifications of rails without processing them: the rail gets its response as soon as they are committed. */
export class NoticeIntake {
  readonly #deps: SystemDeps;
  readonly #dataKeys: DataKeys;
  readonly #batcher: Batcher<readonly NewNotice[], null>;
  readonly #received: Counter;

  constructor(deps: SystemDeps, dataKeys: DataKeys) {
    this.#deps = deps;
    this.#dataKeys = dataKeys;
    this.#received = deps.metrics.counter(
      'caudal_rail_notices_total',
      'Notifications received from rails, by kind.',
      { rail: RAILS, update: ['paid', 'declined', 'unreadable'] },
    );
    this.#batcher = new Batcher({
      run: async (posts) => {
        const notices = posts.flat();
        await deps.system.transaction('store notices', (tx) => insertNotices(tx, notices));
        for (const about of new Set(notices.map((notice) => notice.about)))
          deps.signals.raise(about === 'payin' ? 'payin_notices' : 'payout_notices');
        return posts.map(() => null);
      },
      verdict: classifyFailure,
      groupOf: ([first]) => first?.rail ?? '',
      maxBatch: 40,
      maxQueue: 2000,
      lanes: 1,
    });
  }

  /** Resolves after the commit. Rejects when the commit failed or is unknown, so that the rail resends them. */
  async store(rail: Rail, received: readonly ReceivedNotice[]): Promise<void> {
    const secrets = await this.#dataKeys.load(new Set([OPERATOR_ORGANIZATION_ID]));
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
        encryptedRaw: encryptNotice(dataKey, raw, OPERATOR_ORGANIZATION_ID, id),
      };
    });
    await this.#batcher.submit(notices);
    for (const { update } of notices) this.#received.add({ rail, update: update.kind });
    const unreadable = notices.filter(({ update }) => update.kind === 'unreadable').length;
    if (unreadable > 0)
      this.#deps.log.error(
        { code: 'rail_notice_unreadable', rail, count: unreadable },
        'received unreadable rail notices; stored for manual review',
      );
  }

  close(): Promise<void> {
    return this.#batcher.close();
  }
}

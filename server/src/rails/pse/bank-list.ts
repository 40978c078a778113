import { z } from 'zod';
import type { RailAnswer, RailBank } from '../contract.ts';

const list = z.object({
  banks: z.array(z.object({ code: z.string().regex(/^\d{1,8}$/), name: z.string().trim().min(1).max(200) })),
});

/** The line of PSE's list that invites the payer to choose; it is no bank. */
const INVITATION = '0';

/** @throws when it is no list of banks */
export function bankListAnswer(body: unknown): RailAnswer<readonly RailBank[]> {
  const byCode = new Map(list.parse(body).banks.map(({ code, name }) => [code, name]));
  byCode.delete(INVITATION);
  // PSE without any bank is a fault of PSE's, and believing it would show every bank as gone.
  if (byCode.size === 0) return { kind: 'unknown', cause: 'an empty bank list' };
  return { kind: 'yes', value: [...byCode].map(([networkCode, name]) => ({ networkCode, name })) };
}

import { z } from 'zod';
import { type RailAnswer, type RailBank, unanswered } from '../contract.ts';

const bankListSchema = z.object({
  banks: z.array(z.object({ code: z.string().regex(/^\d{1,8}$/), name: z.string().trim().min(1).max(200) })),
});

/** The code of the placeholder entry ("choose your bank") in PSE's list. */
const PLACEHOLDER = '0';

/** @throws when the body is not a list of banks */
export function bankListAnswer(body: unknown): RailAnswer<readonly RailBank[]> {
  const byCode = new Map(bankListSchema.parse(body).banks.map(({ code, name }) => [code, name]));
  byCode.delete(PLACEHOLDER);
  // An empty list is an error of PSE; accepting it would show every bank as unavailable.
  if (byCode.size === 0) return unanswered('an empty bank list');
  return { kind: 'yes', value: [...byCode].map(([networkCode, name]) => ({ networkCode, name })) };
}

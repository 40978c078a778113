import { z } from 'zod';
import type { RailCall } from '../rail-call.ts';
import { BANKS } from './banks.ts';
import { requireEntityCredentials } from './entity-access.ts';

const banks = [...BANKS].map(([code, name]) => ({ code, name }));

export const listBanks: RailCall<unknown> = {
  rail: 'PSE',
  operation: 'banks',
  schema: z.unknown(),
  authenticate: requireEntityCredentials,
  answer: (_deps, _body, at) => ({ body: { banks }, entry: { at, kind: 'pse.banks' } }),
};

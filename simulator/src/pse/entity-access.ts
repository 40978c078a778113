import type { FastifyRequest } from 'fastify';
import { matchesBasic } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { Rejection } from '../rail-call.ts';

export function requireEntityCredentials({ config }: Deps, request: FastifyRequest): Rejection | null {
  const expected = { user: config.pse.entity, password: config.pse.secret };
  if (matchesBasic(request.headers.authorization, expected)) return null;
  return { status: 401, code: 'FAIL_ACCESSDENIED', body: { code: 'FAIL_ACCESSDENIED' } };
}

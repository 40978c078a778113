import { ApiError } from '../kit/errors.ts';
import { isUuid } from '../kit/ids.ts';

/** @throws Fault `not_found`: what is no identifier names nothing, and is answered like an unknown one */
export function idIn(param: string): string {
  const id = param.toLowerCase();
  if (!isUuid(id)) throw new ApiError('not_found');
  return id;
}

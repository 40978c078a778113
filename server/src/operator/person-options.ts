import { ID_TYPES } from '../customers/customer.ts';
import { isUuid } from '../kit/ids.ts';
import type { PersonIdentifier } from '../people/person.ts';
import { type Options, UsageError } from './options.ts';

/** `--document` or `--email`. @throws UsageError, without the identifier, which must not appear in logs */
export function readIdentifier(options: Options): PersonIdentifier {
  if (options.has('document') === options.has('email'))
    throw new UsageError('give either --document TYPE:NUMBER or --email ADDRESS');
  if (options.has('email')) {
    const email = options.matching('email', /^[^\s@]{1,64}@[^\s@]{1,189}$/, 'an e-mail address', '');
    return { kind: 'email', email };
  }
  const document = options.matching(
    'document',
    /^[A-Z_]+:[\p{L}\p{N}. -]{3,40}$/u,
    'a type, a colon and a number, such as CO_CC:1020304050',
    '',
  );
  const [type = '', idNumber = ''] = document.split(':');
  const idType = ID_TYPES.find((each) => each === type);
  if (!idType) throw new UsageError(`--document: the type must be one of ${ID_TYPES.join(', ')}`);
  return { kind: 'document', idType, idNumber };
}

/** `--org`; null: all organizations. */
export function readOptionalOrganization(options: Options): string | null {
  const id = options.matching('org', /^.+$/, 'the id of an organization (see org list)', '');
  if (id !== '' && !isUuid(id))
    throw new UsageError('--org must be the id of an organization (see org list)');
  return id === '' ? null : id;
}

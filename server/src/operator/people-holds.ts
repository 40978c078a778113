import type { SystemDeps } from '../deps.ts';
import { operatorSecrets, placeHold, readHolds, releaseHold } from '../flows/people/legal-holds.system.ts';
import type { PersonIdentifier } from '../people/person.ts';
import type { Options, Output } from './options.ts';
import { readIdentifier } from './person-options.ts';

export async function peopleHold(deps: SystemDeps, options: Options): Promise<Output> {
  const identifier = readIdentifier(options);
  if (!(await placeHold(deps, options.by, identifier, readReason(options))))
    throw new Error('the person is already under a legal hold (see people holds)');
  return {
    json: { held: true },
    text: 'The person is under a legal hold: no payment with this identifier is erased until people release.',
  };
}

export async function peopleRelease(deps: SystemDeps, options: Options): Promise<Output> {
  const identifier = readIdentifier(options);
  if (!(await releaseHold(deps, options.by, identifier, readReason(options))))
    throw new Error('there is no legal hold with this identifier (see people holds)');
  return {
    json: { held: false },
    text: 'Released the legal hold. Workers erase what is older than the legal retention with their next daily run.',
  };
}

export async function peopleHolds(deps: SystemDeps): Promise<Output> {
  const holds = (await readHolds(deps.system, await operatorSecrets(deps))).map(
    ({ identifier, placedAt, ...hold }) => ({
      ...hold,
      identifier: masked(identifier),
      placedAt: placedAt.toISOString(),
    }),
  );
  const lines = holds.map(
    ({ person, identifier, placedAt, placedBy, reason }) =>
      `${person}  ${identifier}  since ${placedAt} by ${placedBy}: ${reason}`,
  );
  return { json: holds, text: lines.length === 0 ? 'No person is under a legal hold.' : lines.join('\n') };
}

/** Enough to recognize the person, too little to be personal data in a screenshot. */
function masked(identifier: PersonIdentifier): string {
  if (identifier.kind === 'email') return identifier.email.replace(/^(.)[^@]*/u, '$1***');
  return `${identifier.idType} ****${identifier.idNumber.length > 4 ? identifier.idNumber.slice(-4) : ''}`;
}

function readReason(options: Options): string {
  options.required('reason');
  return options.matching('reason', /^.{1,500}$/, 'a text of at most 500 characters', '');
}

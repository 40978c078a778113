import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type NoListing, storeListing } from '../breb/directory.store.ts';
import { type Holder, LISTING_STATUSES, type Listing, TEST_HOLDER } from '../breb/directory.ts';
import { keyStatus } from '../breb/key-status.ts';
import { readKey } from '../breb/key-type.ts';
import { findListing } from '../breb/listing.ts';
import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { BadRequest, readBody } from '../request-body.ts';

const text = z.string().min(1).max(200);

// Strict: a misspelled field would leave the holder unchanged, and a test payout would settle by mistake.
const directoryBody = z.strictObject({
  key: z.string().max(200),
  holder: z
    .strictObject({
      participant: z.strictObject({ nit: text, node: text, name: text.optional() }).optional(),
      account: z.strictObject({ type: text, number: text }).optional(),
      person: z
        .strictObject({ type: z.enum(['N', 'L']), documentType: text, documentNumber: text, names: text })
        .optional(),
    })
    .nullable()
    .optional(),
  status: z.enum(LISTING_STATUSES).optional(),
});

type DirectoryBody = z.infer<typeof directoryBody>;

/** Adds, changes, suspends and removes directory keys of other participants. */
export function directoryRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/directory', (request, reply) => list(deps, request, reply));
}

async function list(deps: Deps, request: FastifyRequest, reply: FastifyReply) {
  const { directory, keys, clock } = deps.state;
  const body = readBody(directoryBody, request);
  const parsed = readKey(body.key);
  if (parsed === null) throw new BadRequest('key: has no valid format');
  const { key } = parsed;
  if (keyStatus(keys.byKey.get(key)) !== 'NOT_FOUND') {
    return reply
      .code(409)
      .send({ code: 'KEY_TAKEN', message: 'the key is or was registered for collection' });
  }
  const listing = mergeListing(body, findListing(deps.state, key));
  storeListing(directory, key, listing);
  await record(deps, { at: nowIso(clock), kind: 'breb.directory', key, ...listing });
  return { key, ...listing };
}

/** Omitted fields keep their value. A new key defaults to the test holder and ACTIVE. */
function mergeListing({ holder, status }: DirectoryBody, current: Listing | null): Listing | NoListing {
  if (holder === null) return { status: null, holder };
  const { participant, account, person }: Holder = current?.holder ?? TEST_HOLDER;
  return {
    status: status ?? current?.status ?? 'ACTIVE',
    holder: {
      participant: holder?.participant ?? participant,
      account: holder?.account ?? account,
      person: holder?.person ?? person,
    },
  };
}

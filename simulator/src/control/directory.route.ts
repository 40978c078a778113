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

// Strict: a misspelt member would leave the holder as it was, and the payout of a test would settle.
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

/** Other participants' side of the directory: keys come, change hands, are suspended and go. */
export function directoryRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/directory', (request, reply) => list(deps, request, reply));
}

async function list(deps: Deps, request: FastifyRequest, reply: FastifyReply) {
  const { directory, keys, clock } = deps.state;
  const body = readBody(directoryBody, request);
  const read = readKey(body.key);
  if (read === null) throw new BadRequest('key: has no valid format');
  const { key } = read;
  if (keyStatus(keys.byKey.get(key)) !== 'NOT_FOUND') {
    return reply.code(409).send({ code: 'KEY_TAKEN', message: 'the key was registered for collecting' });
  }
  const listing = listingOf(body, findListing(deps.state, key));
  storeListing(directory, key, listing);
  await record(deps, { at: nowIso(clock), kind: 'breb.directory', key, ...listing });
  return { key, ...listing };
}

/** What is left out stays as it is; of a new key it is the test holder's, and active. */
function listingOf({ holder, status }: DirectoryBody, known: Listing | null): Listing | NoListing {
  if (holder === null) return { status: null, holder };
  const { participant, account, person }: Holder = known?.holder ?? TEST_HOLDER;
  return {
    status: status ?? known?.status ?? 'ACTIVE',
    holder: {
      participant: holder?.participant ?? participant,
      account: holder?.account ?? account,
      person: holder?.person ?? person,
    },
  };
}

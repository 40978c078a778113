import type { Random } from '../../../chaos/src/run/random.ts';
import type { OpenApi, Operation } from '../document/openapi.ts';
import type { Ownership } from '../tenants/ownership.ts';
import type { Tenant } from '../tenants/tenant.ts';

/** What a request is generated from. */
export interface Context {
  readonly index: number;
  readonly random: Random;
  /** The organization that sends the request, and the other one, whose values it tries. */
  readonly tenant: Tenant;
  readonly other: Tenant;
  readonly document: OpenApi;
  readonly operations: readonly Operation[];
  readonly ownership: Ownership;
  /** Where webhook endpoints can receive. */
  readonly sinkUrl: string;
}

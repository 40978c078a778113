import type { SystemDeps } from '../deps.ts';
import { changeKeyRestrictions } from '../flows/operations/manage-organizations.system.ts';
import { parseNetwork } from '../kit/ip-network.ts';
import type { KeyRestrictions } from '../organizations/credential.store.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MAX_NETWORKS = 100;

export async function keysUpdate(deps: SystemDeps, options: Options): Promise<Output> {
  const [keyId] = options.args;
  if (keyId === undefined) throw new UsageError('keys update needs the id of an API key (see keys list)');
  const changes = readRestrictions(options);
  if (Object.keys(changes).length === 0)
    throw new UsageError('give at least one of --allow-from, --writes-per-second and --reads-per-second');
  const restrictions = await changeKeyRestrictions(deps, options.by, keyId, changes);
  if (!restrictions) throw new Error(`there is no live key ${keyId}`);
  return { json: { keyId, ...restrictions }, text: `API key ${keyId}: ${restrictionsText(restrictions)}` };
}

/** The restrictions that the options give; null where they remove one. */
export function readRestrictions(options: Options): Partial<KeyRestrictions> {
  return {
    ...(options.has('allow-from') ? { allowFrom: readNetworks(options) } : {}),
    ...(options.has('writes-per-second') ? { writesPerSecond: readRate(options, 'writes-per-second') } : {}),
    ...(options.has('reads-per-second') ? { readsPerSecond: readRate(options, 'reads-per-second') } : {}),
  };
}

export function restrictionsText({ allowFrom, writesPerSecond, readsPerSecond }: KeyRestrictions): string {
  const rate = (perSecond: number | null) =>
    perSecond === null ? 'no own limit' : `${perSecond} per second`;
  return `from ${allowFrom?.join(', ') ?? 'any address'}; writes: ${rate(writesPerSecond)}; reads: ${rate(readsPerSecond)}`;
}

function readNetworks(options: Options): string[] | null {
  const text = options.required('allow-from');
  if (text === 'any') return null;
  const networks = text.split(',').map((item) => {
    const network = parseNetwork(item.trim());
    if (!network)
      throw new UsageError(
        `--allow-from: "${item}" is not an address or a CIDR network without bits beyond its prefix, such as 203.0.113.0/24 (IPv4 without "::ffff:")`,
      );
    return `${network.address}/${network.prefix}`;
  });
  if (networks.length > MAX_NETWORKS)
    throw new UsageError(`--allow-from takes at most ${MAX_NETWORKS} networks`);
  return networks;
}

function readRate(options: Options, name: string): number | null {
  const text = options.matching(
    name,
    /^(?:[1-9]\d{0,5}|none)$/,
    'a number from 1 to 999999, or none',
    'none',
  );
  return text === 'none' ? null : Number(text);
}

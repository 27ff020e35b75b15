import type { AddressFamily } from '../../../api/openstackconfig.ts';
import type { Cloud } from '../../../openstack/cloud.ts';
import type { Subnet } from '../../../openstack/resources.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { SubnetSelector } from '../../model/resolve/resolve.ts';
import {
  openstackFailure,
  reasonOf,
  type StatusProblem,
  StepFailure,
} from '../../model/step-failure.ts';

/** The selected subnets, and the readable ones among them. */
export interface ChosenSubnets {
  /** Ordered by precedence. */
  readonly ids: readonly string[];
  readonly found: readonly Subnet[];
  readonly problems: readonly StatusProblem[];
}

interface Selection {
  readonly subnets: Exclude<SubnetSelector, { kind: 'none' }>;
  readonly addressFamilies: readonly AddressFamily[];
}

/** Reads the selected subnets. Throws when a name lookup fails; a failing id among several is only reported. */
export async function chooseSubnets(
  cloud: Pick<Cloud, 'subnet' | 'subnetsByName'>,
  { subnets, addressFamilies }: Selection,
  signal: AbortSignal,
): Promise<ChosenSubnets> {
  const chosen = await (subnets.kind === 'name'
    ? byName(cloud, subnets.name, signal)
    : byIds(cloud, subnets.ids, signal));
  const unwanted = chosen.found.flatMap((subnet) => ofOtherFamily(subnet, addressFamilies));
  return { ...chosen, problems: [...chosen.problems, ...unwanted] };
}

async function byIds(
  cloud: Pick<Cloud, 'subnet'>,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ChosenSubnets> {
  const reads = await Promise.all(ids.map(async (id) => readSubnet(cloud, id, signal)));
  const found = reads.flatMap((read) => (read.kind === 'found' ? [read.subnet] : []));
  const problems = reads.flatMap((read) => (read.kind === 'problem' ? [read.problem] : []));
  return { ids, found, problems };
}

async function byName(
  cloud: Pick<Cloud, 'subnetsByName'>,
  name: string,
  signal: AbortSignal,
): Promise<ChosenSubnets> {
  const found = await cloud.subnetsByName(name, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw openstackFailure(error, 'NeutronSubnetError');
  });
  const [only, another] = found;
  if (only === undefined) {
    const message = `subnet not found: no subnet of the project is named "${name}" (spec.subnetName)`;
    throw new StepFailure({ reason: 'SubnetNotFound', message });
  }
  if (another !== undefined) {
    const message = `multiple subnets matched; use subnetIDs or subnetID: ${found.length} subnets are named "${name}" (spec.subnetName)`;
    throw new StepFailure({ reason: 'SubnetNotUnique', message });
  }
  return { ids: [only.id], found, problems: [] };
}

type Read =
  | { readonly kind: 'found'; readonly subnet: Subnet }
  | { readonly kind: 'problem'; readonly problem: StatusProblem };

async function readSubnet(
  cloud: Pick<Cloud, 'subnet'>,
  id: string,
  signal: AbortSignal,
): Promise<Read> {
  try {
    const found = await cloud.subnet(id, signal);
    if (found.kind === 'found') return { kind: 'found', subnet: found.value };
    const message = `subnet not found: "${id}" (spec.subnetIDs or spec.subnetID)`;
    return { kind: 'problem', problem: { reason: 'SubnetNotFound', message } };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRequestError(error)) throw error;
    const reason = reasonOf(error, 'NeutronSubnetError');
    // Without a token or an endpoint every further read fails too.
    if (reason !== 'NeutronSubnetError') throw openstackFailure(error, reason);
    return { kind: 'problem', problem: { reason, message: error.message } };
  }
}

function ofOtherFamily(
  { id, ipVersion, cidr }: Subnet,
  families: readonly AddressFamily[],
): StatusProblem[] {
  const family = `IPv${ipVersion}` as const;
  if (families.includes(family)) return [];
  const message = `subnet ${id} (${cidr}) is ${family}, which spec.settings.addressFamilies [${families.join(', ')}] does not include; add ${family} or select other subnets`;
  return [{ reason: 'ConfigError', message }];
}

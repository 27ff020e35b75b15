import type { Cloud } from '../../openstack/cloud.ts';
import type { Subnet } from '../../openstack/resources.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { SubnetSelector } from '../resolve/selection.ts';
import { openstackFailure, reasonOf, StepFailure, type Trouble } from '../status/step-failure.ts';

/** The subnets that are selected, and those of them that could be read. */
export interface ChosenSubnets {
  /** In the order of precedence. */
  readonly ids: readonly string[];
  readonly found: readonly Subnet[];
  readonly troubles: readonly Trouble[];
}

type Selector = Exclude<SubnetSelector, { kind: 'none' }>;

/** Reads the selected subnets. Throws when nothing is known of any; one of several that fails is reported. */
export async function chooseSubnets(
  cloud: Pick<Cloud, 'subnet' | 'subnetsByName'>,
  selector: Selector,
  signal: AbortSignal,
): Promise<ChosenSubnets> {
  if (selector.kind === 'name') return byName(cloud, selector.name, signal);
  const reads = await Promise.all(selector.ids.map(async (id) => readSubnet(cloud, id, signal)));
  const found = reads.flatMap((read) => (read.kind === 'found' ? [read.subnet] : []));
  const troubles = reads.flatMap((read) => (read.kind === 'trouble' ? [read.trouble] : []));
  return { ids: selector.ids, found, troubles: [...troubles, ...found.flatMap(unusable)] };
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
  return { ids: [only.id], found, troubles: unusable(only) };
}

type Read =
  | { readonly kind: 'found'; readonly subnet: Subnet }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

async function readSubnet(
  cloud: Pick<Cloud, 'subnet'>,
  id: string,
  signal: AbortSignal,
): Promise<Read> {
  try {
    const found = await cloud.subnet(id, signal);
    if (found.kind === 'found') return { kind: 'found', subnet: found.value };
    const message = `subnet not found: "${id}" (spec.subnetIDs or spec.subnetID)`;
    return { kind: 'trouble', trouble: { reason: 'SubnetNotFound', message } };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRequestError(error)) throw error;
    const reason = reasonOf(error, 'NeutronSubnetError');
    // Without a token or an endpoint nothing else can be read either.
    if (reason !== 'NeutronSubnetError') throw openstackFailure(error, reason);
    return { kind: 'trouble', trouble: { reason, message: error.message } };
  }
}

function unusable({ id, ipVersion, cidr }: Subnet): Trouble[] {
  if (ipVersion === 4) return [];
  const message = `subnet ${id} (${cidr}) is IPv6, which spec.settings.addressFamilies does not support yet; select IPv4 subnets`;
  return [{ reason: 'ConfigError', message }];
}

import { acceptInterfaces } from '../api/accept-interface.ts';
import type { InterfaceSpec, NodeConfigSpec } from '../api/multinicnodeconfig.ts';
import { annotations, interfaceName, labels } from '../api/names.ts';
import type { NodeError, PostedNode } from '../api/node-configs-http.ts';
import { specHash } from '../api/spec-hash.ts';
import { labelValue, objectName } from './sanitize.ts';

/** What the business cluster shall hold for one posted node; every field of it is Viola's own. */
export interface DesiredNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: NodeConfigSpec;
}

export type Desired =
  | { readonly kind: 'usable'; readonly node: DesiredNode }
  | { readonly kind: 'invalid'; readonly error: NodeError };

const maxInterfaces = 10;

/** Checks one posted node and brings it into the form that is stored, or names the first field that cannot be used. */
export function desiredNode(posted: PostedNode, providerId: string): Desired {
  const { nodeName, instanceId, interfaces = [] } = posted;
  const invalid = (field: string, message: string): Desired => ({
    kind: 'invalid',
    error: { nodeName, code: 'Invalid', field, message },
  });
  const name = objectName(nodeName);
  if (name === '') {
    return invalid('nodeName', `"${nodeName}" has no letter or digit that an object name may hold`);
  }
  if (interfaces.length > maxInterfaces) {
    return invalid(
      'interfaces',
      `${interfaces.length} entries; a node has at most ${maxInterfaces}`,
    );
  }
  const [rejection] = acceptInterfaces(interfaces).rejected;
  if (rejection) {
    return invalid(`interfaces[${rejection.position}].${rejection.field}`, rejection.message);
  }
  const spec = { nodeName, instanceId, interfaces: interfaces.map(stored) };
  return {
    kind: 'usable',
    node: {
      name,
      labels: labelsOf({ nodeName, instanceId, providerId }),
      annotations: annotationsOf(posted),
      spec: withoutUndefined({ ...spec, providerId, specHash: specHash(spec) }),
    },
  };
}

/** Index and name always, contradicting ids put right; fields that we do not know are dropped. */
function stored(entry: InterfaceSpec): InterfaceSpec {
  const { macAddress, address, cidr, mtu, addresses, gateway, routes, routing } = entry;
  const [accepted] = acceptInterfaces([entry]).accepted;
  const id = accepted?.nic.index ?? entry.id ?? 0;
  const { portId, networkId, subnetId } = entry;
  return withoutUndefined({
    id,
    name: interfaceName(id),
    portId,
    macAddress: macAddress.toLowerCase(),
    address,
    cidr,
    mtu,
    addresses,
    gateway,
    routes,
    networkId,
    subnetId,
    routing,
  });
}

function labelsOf(values: {
  readonly nodeName: string;
  readonly instanceId: string | undefined;
  readonly providerId: string;
}): Record<string, string> {
  return withoutUndefined({
    [labels.nodeName]: labelValue(values.nodeName),
    [labels.instanceId]: values.instanceId ? labelValue(values.instanceId) : undefined,
    [labels.providerId]: labelValue(values.providerId),
  });
}

function annotationsOf({ source, base }: PostedNode): Record<string, string> {
  return withoutUndefined({
    [annotations.source]: source ? JSON.stringify(source) : undefined,
    [annotations.fenced]: base === undefined ? undefined : 'true',
  });
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Server-side apply takes an absent key as "not mine", so that is what an unknown value has to be. */
function withoutUndefined<T extends object>(value: T): Present<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as Present<T>;
}

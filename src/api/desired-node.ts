import { acceptInterfaces } from './accept-interface.ts';
import { familyOf, ipOf, networkOf } from './address.ts';
import type { RequestInterface } from './job.ts';
import { labelValue } from './label-value.ts';
import type { InterfaceSpec, NodeConfigSpec } from './multinicnodeconfig.ts';
import { annotations, interfaceName, labels } from './names.ts';
import type { NodeError, PostedNode } from './node-configs-http.ts';
import { controlCharacterIn, objectName } from './object-name.ts';
import { specHash } from './spec-hash.ts';

/** Target object for one posted node; Viola owns all its fields. */
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

/** Validates one posted node and returns the stored form, or the first unusable field. */
export function desiredNode(posted: PostedNode, providerId: string): Desired {
  const { interfaces = [] } = posted;
  const nodeName = posted.nodeName.trim();
  const instanceId = posted.instanceId?.trim() || undefined;
  const invalid = (field: string, message: string): Desired => ({
    kind: 'invalid',
    error: { nodeName: posted.nodeName, code: 'Invalid', field, message },
  });
  // Before the trim, which drops control characters at both ends.
  const control = controlCharacterIn(posted.nodeName);
  if (control) return invalid('nodeName', `${control}; rename the server`);
  const name = objectName(nodeName);
  if (name === '') {
    return invalid(
      'nodeName',
      `"${nodeName}" has no character a-z or 0-9, which an object name needs; rename the server`,
    );
  }
  if (interfaces.length > maxInterfaces) {
    return invalid(
      'interfaces',
      `${interfaces.length} entries; a node may have at most ${maxInterfaces}, remove some`,
    );
  }
  const { accepted, rejected } = acceptInterfaces(interfaces);
  const [rejection] = rejected;
  if (rejection) {
    return invalid(`interfaces[${rejection.position}].${rejection.field}`, rejection.message);
  }
  const entries = accepted.flatMap(({ position, nic }) => {
    const entry = interfaces[position];
    return entry ? [stored(entry, nic)] : [];
  });
  const spec = withoutUndefined({ nodeName, instanceId, interfaces: entries });
  const hash = specHash(spec);
  return {
    kind: 'usable',
    node: {
      name,
      labels: labelsOf({ nodeName, instanceId, providerId }),
      annotations: annotationsOf(posted),
      spec: { ...spec, providerId, specHash: hash, ...modeOf(posted), ...consentOf(posted) },
    },
  };
}

/**
 * Returns an entry in the form read by the legacy controller: consistent id and name, `address` for IPv4, `cidr` in
 * network form. Unknown fields are dropped.
 */
function stored(entry: InterfaceSpec, { index, mac, addresses: [first = ''] }: RequestInterface) {
  const { portId, mtu, addresses, gateway, routes, subnets, networkId, subnetId, routing } = entry;
  return withoutUndefined({
    id: index,
    name: interfaceName(index),
    portId,
    macAddress: mac,
    address: entry.address ?? (familyOf(first) === 4 ? ipOf(first) : undefined),
    cidr: networkOf(first),
    mtu,
    addresses,
    gateway,
    routes,
    subnets,
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

function annotationsOf({ source, base, mode }: PostedNode): Record<string, string> {
  return withoutUndefined({
    [annotations.source]: source ? JSON.stringify(source) : undefined,
    [annotations.fenced]: base === undefined ? undefined : 'true',
    // With an older CRD `spec.mode` is not stored, and an older controller ignores it: the annotation protects the node.
    [annotations.paused]: mode === 'Observe' ? 'true' : undefined,
  });
}

/** Returns `spec.mode`; Apply is omitted, as in objects written before the field existed. */
function modeOf({ mode }: PostedNode): Pick<NodeConfigSpec, 'mode'> {
  return mode === 'Observe' ? { mode } : {};
}

/** Returns `spec.existingConfiguration`; Refuse is omitted, as in objects written before the field existed. */
function consentOf({ existingConfiguration }: PostedNode) {
  return existingConfiguration === 'Adopt' ? { existingConfiguration } : {};
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes undefined values: server-side apply treats an absent key as not owned. */
function withoutUndefined<T extends object>(value: T): Present<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as Present<T>;
}

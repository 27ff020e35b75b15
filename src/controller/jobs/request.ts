import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { acceptInterfaces, type Rejection } from '../../api/accept-interface.ts';
import { ipOf, plainForm } from '../../api/address.ts';
import {
  type JobRequest,
  type Protocol,
  protocolOf,
  type RequestInterface,
} from '../../api/job.ts';
import { type InterfaceStatus, interfaceSpec } from '../../api/multinicnodeconfig.ts';
import { indexOfName } from '../../api/names.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { Terms } from './applied.ts';
import type { AgentTask } from './runner.ts';

const anyFields = interfaceSpec.partial();

type AnyFields = ReturnType<typeof anyFields.parse>;

/** One entry of `spec.interfaces`: what people see of it, and whether it can be used. */
export interface Entry {
  readonly position: number;
  /** Lower case; undefined when the entry has none that can be read. */
  readonly mac: string | undefined;
  readonly index: number | undefined;
  /** Fields as they stand in the spec, as far as they can be read. */
  readonly shown: AnyFields;
  /** `interfaces[2].address: …`; undefined when the entry can be used. */
  readonly rejection: string | undefined;
}

export interface AcceptedSpec {
  /** Undefined when the spec cannot be read. */
  readonly entries: readonly Entry[] | undefined;
  /** What the agent is asked for, by index. */
  readonly interfaces: readonly RequestInterface[];
  /** MACs of refused entries: their NICs stay as they are. */
  readonly keep: readonly string[];
  /** Why no agent may run at all: nobody can tell which NICs are to stay. */
  readonly blocked: string | undefined;
}

/** Reads the spec of an object; one of no known form has no entries and blocks everything. */
export function acceptSpec({ spec, flaw }: NodeConfig): AcceptedSpec {
  if (!spec) return { entries: undefined, interfaces: [], keep: [], blocked: flaw };
  const accepted = acceptEntries(spec.interfaces ?? []);
  // Whoever wrote it did not do so through Viola, whose next write for the node of that name corrects it.
  return spec.nodeName?.trim()
    ? accepted
    : { ...accepted, blocked: 'spec.nodeName: names no node' };
}

/** Decides entry by entry what can be configured; a refused entry is never treated as removed. */
export function acceptEntries(raw: readonly unknown[]): AcceptedSpec {
  const parsed = raw.map((entry, position) => ({
    position,
    result: interfaceSpec.safeParse(entry),
  }));
  const readable = parsed.flatMap(({ position, result }) =>
    result.success ? [{ position, spec: result.data }] : [],
  );
  const acceptance = acceptInterfaces(readable.map(({ spec }) => spec));
  // acceptInterfaces counts readable entries only; their positions in the spec are what people look for.
  const at = (position: number): number => readable[position]?.position ?? position;
  const rejections = new Map<number, string>();
  for (const { position, result } of parsed) {
    const [issue] = result.error?.issues ?? [];
    if (issue) {
      rejections.set(
        position,
        textOf({ position, field: issue.path.join('.'), message: issue.message }),
      );
    }
  }
  for (const rejection of acceptance.rejected) {
    const position = at(rejection.position);
    rejections.set(position, textOf({ ...rejection, position }));
  }
  const entries = parsed.map(({ position, result }) =>
    entryOf(result.data ?? readableFields(raw[position]), position, rejections.get(position)),
  );
  const refused = entries.filter(({ rejection }) => rejection !== undefined);
  const interfaces = acceptance.accepted.map(({ nic }) => nic);
  const requested = new Set(interfaces.map(({ mac }) => mac));
  const kept = refused.flatMap(({ mac }) => (mac && !requested.has(mac) ? [mac] : []));
  return {
    entries,
    interfaces: interfaces.toSorted((a, b) => a.index - b.index),
    keep: [...new Set(kept)].toSorted(),
    blocked: refused.find(({ mac }) => mac === undefined)?.rejection,
  };
}

function textOf({ position, field, message }: Rejection): string {
  return `interfaces[${position}]${field === '' ? '' : `.${field}`}: ${message}`;
}

function entryOf(shown: AnyFields, position: number, rejection: string | undefined): Entry {
  return {
    position,
    mac: shown.macAddress?.toLowerCase(),
    index: shown.name === undefined ? (shown.id ?? 0) : indexOfName(shown.name),
    shown,
    rejection,
  };
}

/** The fields that are of their type; the others are left out. */
function readableFields(raw: unknown): AnyFields {
  if (raw === null || typeof raw !== 'object') return {};
  const usable = Object.entries(raw as Readonly<Record<string, unknown>>).filter(
    ([key, value]) => anyFields.safeParse({ [key]: value }).success,
  );
  return anyFields.parse(Object.fromEntries(usable));
}

/** What the agent shall bring about on a node. */
export type Contents = Pick<AcceptedSpec, 'interfaces' | 'keep'>;

/** Nothing of ours shall be left on the node. */
export const nothing: Contents = { interfaces: [], keep: [] };

/** Hash of what is asked for on which node: equal ones need no second run. */
export function contentHash(node: Node, { interfaces, keep }: Contents): string {
  const text = canonicalJson({ node: node.metadata.name, interfaces, keep });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

interface Asked {
  readonly config: Pick<NodeConfig, 'status'>;
  readonly node: Node;
  readonly contents: Contents;
}

/** The version that is tried first: 2, which names the machine, unless a NIC needs more. */
export function protocolFor({ interfaces }: Pick<Contents, 'interfaces'>): Protocol {
  return interfaces.some((nic) => protocolOf(nic) === 3) ? 3 : 2;
}

/**
 * The agent's instructions. It has no access to the API server: the Node's own addresses travel with them. A NIC for which
 * the protocol has no words stays as it is.
 */
export function requestOf(
  order: AgentTask,
  { config, node, contents: { interfaces, keep } }: Asked,
  { protocol, hostFence }: Terms,
): JobRequest {
  const ports = [
    ...interfaces.flatMap(({ addresses }) => addresses),
    ...(config.status?.interfaceStatuses ?? []).flatMap(addressesIn),
  ].map((text) => plainForm(ipOf(text)));
  const withheld = interfaces.filter((nic) => protocolOf(nic) > protocol);
  const stay = [...keep, ...withheld.map(({ mac }) => mac)];
  const { machineId } = order.machine;
  return {
    protocol,
    uid: order.uid,
    generation: order.generation,
    attempt: order.attempt,
    action: order.action,
    ...(protocol >= 2 && machineId !== undefined ? { machineId } : {}),
    ...(protocol >= 2 && hostFence ? { supersedes: hostFence } : {}),
    nodeName: node.metadata.name,
    protectedAddresses: addressesOf(node, new Set(ports)),
    interfaces: interfaces.filter((nic) => !withheld.includes(nic)),
    ...(stay.length > 0 ? { keep: stay } : {}),
    family: order.family,
  };
}

function addressesIn({ address, addresses = [] }: InterfaceStatus): string[] {
  return [address ?? '', ...addresses].filter((text) => isIP(ipOf(text)) !== 0);
}

/**
 * InternalIP, ExternalIP and whatever else a cloud provider lists; host names are left out. The cloud controller of OpenStack
 * lists the addresses of all ports of a server in any order, those of our NICs too. The node is reached by the others; where a
 * family has no other InternalIP, by the first one, whatever the object says of it.
 */
function addressesOf({ status }: Node, ports: ReadonlySet<string>): string[] {
  const listed = (status?.addresses ?? []).filter(({ address }) => isIP(address) !== 0);
  const isPort = ({ address }: { readonly address: string }) => ports.has(plainForm(address));
  const claimed = [4, 6].flatMap((family) => {
    const internal = listed.filter(
      ({ type, address }) => type === 'InternalIP' && isIP(address) === family,
    );
    return internal.every(isPort) ? internal.slice(0, 1) : [];
  });
  const kept = listed.filter((one) => claimed.includes(one) || !isPort(one));
  return [...new Set(kept.map(({ address }) => address))];
}

import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { acceptInterfaces, type Rejection } from '../../api/accept-interface.ts';
import { ipOf, plainForm } from '../../api/address.ts';
import type { ExistingConfiguration } from '../../api/found-configuration.ts';
import {
  adoptionProtocol,
  type JobRequest,
  type Protocol,
  protocolOf,
  type RequestInterface,
} from '../../api/job.ts';
import { type InterfaceStatus, interfaceSpec } from '../../api/multinicnodeconfig.ts';
import { indexOfName } from '../../api/names.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { type Terms } from './applied.ts';
import {
  type AllowedRemoval,
  isIfGone,
  isRecorded,
  type RunBasis,
  type StartedRemoval,
  standingRemovals,
} from './run-basis.ts';
import type { AgentTask } from './runner.ts';

const anyFields = interfaceSpec.partial();

type AnyFields = ReturnType<typeof anyFields.parse>;

/** One entry of `spec.interfaces`: fields shown to users, and usability. */
export interface Entry {
  readonly position: number;
  /** Lower case; undefined if missing or unreadable. */
  readonly mac: string | undefined;
  readonly index: number | undefined;
  /** Readable fields as in the spec. */
  readonly shown: AnyFields;
  /** `interfaces[2].address: …`; undefined: the entry is usable. */
  readonly rejection: string | undefined;
}

export interface AcceptedSpec {
  /** Undefined: the spec is unreadable. */
  readonly entries: readonly Entry[] | undefined;
  /** NICs to request from the agent, by index. */
  readonly interfaces: readonly RequestInterface[];
  /** MACs in refused entries: these NICs stay unchanged. */
  readonly keep: readonly string[];
  /** Why no agent may run: the set of NICs to keep is unknown. */
  readonly blocked: string | undefined;
  /** Consent to take over the NICs' existing configuration; undefined: none. */
  readonly existingConfiguration?: 'Adopt' | undefined;
}

/** Reads an object's spec; an unreadable spec has no entries and blocks all agent runs. */
export function acceptSpec({ spec, flaw }: NodeConfig): AcceptedSpec {
  if (!spec) return { entries: undefined, interfaces: [], keep: [], blocked: flaw };
  const accepted = { ...acceptEntries(spec.interfaces ?? []), ...consentIn(spec) };
  // The writer bypassed Viola; Viola's next write for the node of this name corrects the field.
  return spec.nodeName?.trim()
    ? accepted
    : { ...accepted, blocked: 'spec.nodeName: is empty; set the name of the node' };
}

/** Returns the consent in request form: Refuse is absent, as in requests before the field existed. */
export function consentIn({
  existingConfiguration,
}: {
  readonly existingConfiguration?: ExistingConfiguration | undefined;
}): Pick<AcceptedSpec, 'existingConfiguration'> {
  return existingConfiguration === 'Adopt' ? { existingConfiguration } : {};
}

/** Decides per entry whether it can be configured; a refused entry is never treated as removed. */
export function acceptEntries(raw: readonly unknown[]): AcceptedSpec {
  const parsed = raw.map((entry, position) => ({
    position,
    result: interfaceSpec.safeParse(entry),
  }));
  const readable = parsed.flatMap(({ position, result }) =>
    result.success ? [{ position, spec: result.data }] : [],
  );
  const acceptance = acceptInterfaces(readable.map(({ spec }) => spec));
  // acceptInterfaces numbers readable entries only; users need positions in the spec.
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
  const retained = refused.flatMap(({ mac }) => (mac && !requested.has(mac) ? [mac] : []));
  return {
    entries,
    interfaces: interfaces.toSorted((a, b) => a.index - b.index),
    keep: [...new Set(retained)].toSorted(),
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

/** Returns the fields with a valid type and drops the rest. */
function readableFields(raw: unknown): AnyFields {
  if (raw === null || typeof raw !== 'object') return {};
  const usable = Object.entries(raw as Readonly<Record<string, unknown>>).filter(
    ([key, value]) => anyFields.safeParse({ [key]: value }).success,
  );
  return anyFields.parse(Object.fromEntries(usable));
}

/** Desired NICs on a node. */
export type Contents = Pick<AcceptedSpec, 'interfaces' | 'keep' | 'existingConfiguration'>;

/** Contents without NICs, for cleaning a node. */
export const nothing: Contents = { interfaces: [], keep: [] };

/** Hash over node name and contents; equal hashes need no second run. */
export function contentHash({ metadata }: Node, contents: Contents): string {
  return contentHashOn(metadata.name, contents);
}

/** Hash over a NIC's requested content. */
export function nicHash(nic: RequestInterface): string {
  return hash('sha256', canonicalJson(nic)).slice(0, 8);
}

export function contentHashOn(node: string, contents: Contents): string {
  const { interfaces, keep } = contents;
  const content = { node, interfaces, keep, ...consentIn(contents) };
  return hash('sha256', canonicalJson(content)).slice(0, 32);
}

/** Protocol of a request, superseded fence, and removals in the object's record. */
export interface RequestTerms extends Pick<Terms, 'protocol' | 'hostFence'> {
  readonly basis?: RunBasis | undefined;
  readonly removed?: readonly StartedRemoval[] | undefined;
}

interface Asked {
  readonly config: Pick<NodeConfig, 'status'>;
  readonly node: Node;
  readonly contents: Contents;
}

const noFacts: ClusterFacts = { networks: [], apiServer: undefined };

/**
 * Builds the agent's request. The agent has no API access: the request carries the Node's own addresses. A NIC beyond
 * the protocol stays unchanged, and a known NIC leaves only if the request names it.
 */
export function requestOf(
  task: AgentTask,
  { config, node, contents }: Asked,
  { protocol, hostFence, basis, removed }: RequestTerms,
  facts: ClusterFacts = noFacts,
): JobRequest {
  const { interfaces, keep } = contents;
  const ports = [
    ...interfaces.flatMap(({ addresses }) => addresses),
    ...(config.status?.interfaceStatuses ?? []).flatMap(addressesIn),
  ].map((text) => plainForm(ipOf(text)));
  const withheld = interfaces.filter((nic) => protocolOf(nic) > protocol);
  const stay = [...keep, ...withheld.map(({ mac }) => mac)];
  const { machineId } = task.machine;
  return {
    protocol,
    uid: task.uid,
    generation: task.generation,
    attempt: task.attempt,
    action: task.action,
    ...(protocol >= 2 && machineId !== undefined ? { machineId } : {}),
    ...(protocol >= 2 && hostFence ? { supersedes: hostFence } : {}),
    nodeName: node.metadata.name,
    protectedAddresses: addressesOf(node, new Set(ports)),
    interfaces: interfaces.filter((nic) => !withheld.includes(nic)),
    ...(stay.length > 0 ? { keep: stay } : {}),
    ...(protocol >= 4 ? removalLists(namedRemovals({ basis, removed }, task)) : {}),
    ...factsFor(protocol, facts),
    ...consentFor(protocol, contents),
    family: task.family,
  };
}

function consentFor(protocol: Protocol, contents: Contents) {
  return protocol >= adoptionProtocol ? consentIn(contents) : {};
}

/** Returns no facts before protocol 5: older agents have no use for them. */
function factsFor(protocol: Protocol, { networks, apiServer }: ClusterFacts) {
  if (protocol < 5) return {};
  return {
    ...(networks.length > 0 ? { clusterNetworks: [...networks] } : {}),
    ...(apiServer ? { apiServer } : {}),
  };
}

/** Returns the removals of this act that the record lists: no NIC leaves without an older entry. */
function namedRemovals(
  record: Pick<RequestTerms, 'basis' | 'removed'>,
  task: AgentTask,
): readonly AllowedRemoval[] {
  return standingRemovals(record, task).filter((removal) => isRecorded(record, [removal]));
}

/** Runs without a basis for their content, and checks, remove nothing. */
function removalLists(removals: readonly AllowedRemoval[]) {
  return {
    mayRemove: macsOf(removals.filter((removal) => !isIfGone(removal))),
    mayRemoveIfGone: macsOf(removals.filter(isIfGone)),
  };
}

function macsOf(removals: readonly AllowedRemoval[]): string[] {
  return removals.map(({ mac }) => mac);
}

function addressesIn({ address, addresses = [] }: InterfaceStatus): string[] {
  return [address ?? '', ...addresses].filter((text) => isIP(ipOf(text)) !== 0);
}

/**
 * Returns the Node's own IPs to protect: InternalIP, ExternalIP and any other type, without host names. The OpenStack
 * cloud controller lists all ports' addresses in any order, including managed NICs, whose addresses are left out. If an
 * address family has only managed InternalIPs, the first InternalIP is protected, whatever the object contains.
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
  const retained = listed.filter((one) => claimed.includes(one) || !isPort(one));
  return [...new Set(retained.map(({ address }) => address))];
}

import { argsOf } from '../api/args.ts';
import type { OpenstackConfig } from '../api/openstackconfig.ts';
import type { NicView, PortView } from '../api/read-http.ts';
import type { NextStepValue } from '../api/reasons/next-step-row.ts';
import { type CommandValues, partsOf } from './commands.ts';
import type { PartHealth } from './facts.ts';

/** Subject for a reason; every field is optional because a finding has fewer facts than an explanation. */
export interface About {
  /** OpenstackConfig as `namespace/name`. */
  readonly config?: string | undefined;
  readonly spec?: Spec;
  readonly port?: Pick<PortView, 'portId' | 'deviceId' | 'addresses'> | undefined;
  readonly nodeName?: string | undefined;
  readonly nic?: Pick<NicView, 'portId' | 'code' | 'args'> | undefined;
  /** Code with a separate action, such as a hold code. */
  readonly code?: string | undefined;
  /** Business cluster. */
  readonly provider?: string | undefined;
  /** Latest agent Job. */
  readonly job?: string | undefined;
  readonly part?: Pick<PartHealth, 'namespace' | 'notStarted'> | undefined;
}

type Spec = OpenstackConfig['spec'] | undefined;

export type KnownValues = Readonly<Record<NextStepValue, CommandValues[string] | undefined>>;

/** Returns the values for commands; undefined: unknown, or the command does not apply. */
export function valuesOf(about: About): KnownValues {
  const { config, spec, port, nodeName, nic, job, provider, part } = about;
  const [namespace, name] = config === undefined ? [] : partsOf(config);
  const server = port?.deviceId || undefined;
  return {
    config,
    namespace,
    name,
    node: nodeName,
    provider,
    port: port?.portId ?? nic?.portId,
    server,
    job,
    ...ofPart(part),
    ...subnetsOf(spec, port?.addresses[0]?.subnetId),
    ...serversOf(spec, server),
    raisedLimit: raisedLimit(spec),
    ...foreignAddressOf(nic),
  };
}

function ofPart(part: About['part']) {
  return { partNamespace: part?.namespace, waitingPod: part?.notStarted?.[0]?.pod };
}

function subnetsOf(spec: Spec, subnet: string | undefined) {
  const form = subnetForm(spec);
  const isSingle = form === 'single';
  return {
    specSubnet: firstSubnet(spec),
    listedSubnet: form === 'list' ? subnet : undefined,
    singleSubnet: isSingle ? spec?.subnetID : undefined,
    addedSubnet: isSingle ? subnet : undefined,
    firstSubnet: form === 'none' ? subnet : undefined,
  };
}

/** A subnet by name has no list to extend, and the id behind the name is unknown here. */
function subnetForm(spec: Spec): 'list' | 'single' | 'name' | 'none' {
  if (spec === undefined || spec.subnetIDs?.length) return 'list';
  if (spec.subnetID) return 'single';
  return spec.subnetName ? 'name' : 'none';
}

function firstSubnet(spec: Spec): string | undefined {
  return spec?.subnetIDs ? spec.subnetIDs[0] : spec?.subnetID || undefined;
}

function serversOf(spec: Spec, server: string | undefined) {
  const isList = spec === undefined || Boolean(spec.vmNames?.length);
  return {
    listedServer: isList ? server : undefined,
    firstServer: isList || spec.vmSelector ? undefined : server,
    selectorOptions: selectorOptions(spec),
  };
}

function selectorOptions(spec: Spec): readonly string[] | undefined {
  const { metadata = {}, tags = [] } = spec?.vmSelector ?? {};
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
  const options = [
    ...pairs.flatMap((pair) => ['--property', pair]),
    ...tags.flatMap((tag) => ['--tag', tag]),
  ];
  return options.length > 0 ? options : undefined;
}

const mostNics = 10;

function raisedLimit(spec: Spec): number | undefined {
  const limit = spec?.settings?.maxInterfaces ?? mostNics;
  return limit < mostNics ? limit + 1 : undefined;
}

function foreignAddressOf(nic: About['nic']) {
  const isForeign = nic?.code === 'ForeignAddress' || nic?.code === 'AddressElsewhere';
  const { address, link } = isForeign ? argsOf(nic.args) : {};
  return { foreignAddress: address, foreignLink: link };
}

import { argsOf } from '../api/args.ts';
import type { OpenstackConfig } from '../api/openstackconfig.ts';
import type { NicView, PortView } from '../api/read-http.ts';
import type { NextStepValue } from '../api/reasons/next-step-row.ts';
import { rowOf } from '../api/reasons.ts';
import { type CommandValues, filledCommands, partsOf } from './commands.ts';
import type { NextStep } from './step.ts';
import { same } from './wording.ts';

/** Subject for a reason; every field is optional because a finding has fewer facts than an explanation. */
export interface About {
  /** OpenstackConfig as `namespace/name`. */
  readonly config?: string | undefined;
  readonly spec?: OpenstackConfig['spec'] | undefined;
  readonly port?: Pick<PortView, 'portId' | 'deviceId' | 'addresses'> | undefined;
  readonly nodeName?: string | undefined;
  readonly nic?: Pick<NicView, 'portId' | 'code' | 'args'> | undefined;
  /** Code with a separate action, such as a hold code. */
  readonly code?: string | undefined;
  /** Latest agent Job. */
  readonly job?: string | undefined;
}

/** Returns the first next step in the table with all values known, otherwise the action alone. */
export function nextFor(reason: string, about: About): NextStep {
  const row = rowOf(reason);
  const action = (about.code === undefined ? undefined : rowOf(about.code)) ?? row;
  const values = valuesOf(about);
  for (const { text = action?.action, commands = [], preview = [] } of row?.nextStep ?? []) {
    const filled = filledCommands(commands, values);
    const filledPreview = filledCommands(preview, values);
    if (text && filled && filledPreview) return { text, commands: filled, preview: filledPreview };
  }
  return { text: row?.action ?? same(''), commands: [], preview: [] };
}

type Known = Readonly<Record<NextStepValue, CommandValues[string] | undefined>>;

function valuesOf({ config, spec, port, nodeName, nic, job }: About): Known {
  const [namespace, name] = config === undefined ? [] : partsOf(config);
  return {
    config,
    namespace,
    name,
    node: nodeName,
    port: port?.portId ?? nic?.portId,
    server: port?.deviceId || undefined,
    job,
    ...subnetsOf(spec, port?.addresses[0]?.subnetId),
    ...serversOf(spec, port?.deviceId || undefined),
    raisedLimit: raisedLimit(spec),
    ...foreignAddressOf(nic),
  };
}

/** A subnet by name has no list to extend, and the id behind the name is unknown here. */
function subnetsOf(spec: OpenstackConfig['spec'] | undefined, subnet: string | undefined) {
  const { subnetIDs = [], subnetID, subnetName } = spec ?? {};
  const hasList = spec === undefined || subnetIDs.length > 0;
  return {
    specSubnet: (spec?.subnetIDs ?? [subnetID])[0] || undefined,
    listedSubnet: hasList ? subnet : undefined,
    singleSubnet: subnetID || undefined,
    addedSubnet: subnet,
    firstSubnet: hasList || subnetID || subnetName ? undefined : subnet,
  };
}

function serversOf(spec: OpenstackConfig['spec'] | undefined, server: string | undefined) {
  const { vmNames = [], vmSelector } = spec ?? {};
  const hasList = spec === undefined || vmNames.length > 0;
  const { metadata = {}, tags = [] } = vmSelector ?? {};
  const properties = Object.entries(metadata).flatMap(([key, value]) => [
    '--property',
    `${key}=${value}`,
  ]);
  const options = [...properties, ...tags.flatMap((tag) => ['--tag', tag])];
  return {
    listedServer: hasList ? server : undefined,
    firstServer: hasList || vmSelector ? undefined : server,
    selectorOptions: options.length > 0 ? options : undefined,
  };
}

const mostNics = 10;

function raisedLimit(spec: OpenstackConfig['spec'] | undefined): number | undefined {
  const limit = spec?.settings?.maxInterfaces ?? mostNics;
  return limit < mostNics ? limit + 1 : undefined;
}

function foreignAddressOf(nic: About['nic']) {
  const isForeign = nic?.code === 'ForeignAddress' || nic?.code === 'AddressElsewhere';
  const { address, link } = isForeign ? argsOf(nic.args) : {};
  return { foreignAddress: address, foreignLink: link };
}

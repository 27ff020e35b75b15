import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import { parseTime } from '../../plan/entry.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { OperatorSettings } from '../settings.ts';
import { type Fields, trimmed } from './fields.ts';

/** Which servers, subnets and ports are meant, and how many of them. */
export function resolveSelection(
  spec: OpenstackConfigSpec,
  operator: OperatorSettings,
  { metadata }: ConfigObject,
  fields: Fields,
) {
  const settings = spec.settings ?? {};
  const { portBaseline, maxInterfaces, downPortFastRetryMax } = settings;
  const retries = operator.downPortFastRetryMax;
  return {
    serverIds: serverIds(spec, fields),
    subnets: subnetSelector(spec),
    statuses: statuses(settings.openstackPortAllowedStatuses, operator),
    createdAfter: baseline(portBaseline, metadata.creationTimestamp, fields),
    maxInterfaces: fields.integer('spec.settings.maxInterfaces', maxInterfaces, 10, 1, 10),
    nodeNameKey:
      trimmed(settings.openstackNodeNameMetadataKey) ?? operator.openstackNodeNameMetadataKey,
    // Values below 1 have always meant 1.
    downPortFastRetryMax: Math.max(1, downPortFastRetryMax ?? retries),
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function serverIds({ vmNames = [] }: OpenstackConfigSpec, fields: Fields): string[] {
  const ids = vmNames.map((name) => name.trim().toLowerCase());
  for (const [at, id] of ids.entries()) {
    if (id === '') fields.refuse(`spec.vmNames[${at}]`, 'is blank; remove it');
    else if (!uuid.test(id)) {
      const instead = 'is not the UUID of a server; server names are not supported yet';
      fields.refuse(`spec.vmNames[${at}]`, `"${vmNames[at]}" ${instead}`);
    }
  }
  if (ids.length === 0) {
    const instead = 'to remove all its NICs, delete the OpenstackConfig';
    fields.refuse('spec.vmNames', `must name at least one server; ${instead}`);
  }
  return [...new Set(ids)];
}

function statuses(given: readonly string[] | undefined, operator: OperatorSettings) {
  const list = given && given.length > 0 ? given : operator.openstackPortAllowedStatuses;
  const words = list.map((word) => word.trim().toUpperCase()).filter((word) => word !== '');
  return words.length === 0 || words.includes('*') ? ('any' as const) : words;
}

function baseline(given: string | undefined, created: string | undefined, fields: Fields) {
  const text = trimmed(given) ?? 'CreatedAfterConfig';
  if (text === 'CreatedAfterConfig') return created;
  if (text === 'All') return undefined;
  if (parseTime(text) === undefined) {
    const forms = 'CreatedAfterConfig, All or a time such as 2026-01-02T03:04:05Z';
    fields.refuse('spec.settings.portBaseline', `"${text}" is unknown; use ${forms}`);
  }
  return text;
}

/** The subnets an OpenstackConfig selects, before names are looked up. */
export type SubnetSelector =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'none' };

interface SubnetFields {
  readonly subnetIDs?: readonly string[] | undefined;
  readonly subnetID?: string | undefined;
  readonly subnetName?: string | undefined;
}

/** Ids in lower case, as Neutron compares them. `subnetIDs` before `subnetID` before `subnetName`; blanks do not count, order of ids is kept. */
export function subnetSelector(fields: SubnetFields): SubnetSelector {
  const ids = unique(fields.subnetIDs ?? []);
  if (ids.length > 0) return { kind: 'ids', ids };
  const single = unique([fields.subnetID ?? '']);
  if (single.length > 0) return { kind: 'ids', ids: single };
  const name = fields.subnetName?.trim() ?? '';
  return name === '' ? { kind: 'none' } : { kind: 'name', name };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== ''))];
}

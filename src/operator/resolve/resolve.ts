import { type OpenstackConfigSpec, openstackConfigSpec } from '../../api/openstackconfig.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { type Polling, shortestPollMs } from '../schedule/poll.ts';
import type { OperatorSettings } from '../settings.ts';
import { type Endpoint, resolveEndpoints } from './endpoints.ts';
import { type FieldProblem, Fields, trimmed } from './fields.ts';
import { resolveSelection, type SubnetSelector } from './selection.ts';
import { refuseUnsupported } from './unsupported.ts';

/** An OpenstackConfig with every setting decided: CR before operator before default. */
export interface ResolvedConfig {
  /** Business cluster: `x-provider-id`. */
  readonly providerId: string;
  readonly openstackProviderId: string;
  readonly projectId: string;
  readonly contrabass: Endpoint & { readonly timeoutMs: number; readonly insecure: boolean };
  readonly viola: Endpoint;
  readonly openstack: {
    readonly timeoutMs: number;
    readonly insecure: boolean;
    readonly interface: 'public' | 'internal' | 'admin';
    readonly region: string | undefined;
    readonly neutronUrl: string | undefined;
    readonly novaUrl: string | undefined;
  };
  /** Fields that send credentials of the cloud to a place which only the CR vouches for. */
  readonly untrustedFields: readonly string[];
  readonly encryptKey: {
    readonly secretRef: { readonly name: string; readonly key: string } | undefined;
    /** In the CR itself: the last resort of earlier generations. */
    readonly plain: string | undefined;
  };
  readonly serverIds: readonly string[];
  readonly subnets: Exclude<SubnetSelector, { kind: 'none' }>;
  readonly statuses: 'any' | readonly string[];
  readonly createdAfter: string | undefined;
  readonly maxInterfaces: number;
  readonly nodeNameKey: string | undefined;
  readonly downPortFastRetryMax: number;
  readonly polling: Polling;
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly config: ResolvedConfig }
  | { readonly kind: 'refused'; readonly problems: readonly FieldProblem[] };

/** Decides every setting of an OpenstackConfig, or names everything in it that cannot be used. */
export function resolveConfig(object: ConfigObject, operator: OperatorSettings): Resolution {
  const parsed = openstackConfigSpec.safeParse(object.spec ?? {});
  const fields = new Fields();
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      fields.refuse(['spec', ...path].join('.'), message);
    }
    return { kind: 'refused', problems: fields.problems };
  }
  const spec = parsed.data;
  refuseUnsupported(spec, fields);
  const config = {
    ...identities(spec, fields),
    ...resolveEndpoints(spec, operator, fields),
    ...resolveSelection(spec, operator, object, fields),
    polling: polling(spec, operator, fields),
    encryptKey: {
      secretRef: spec.secrets?.contrabassEncryptKeySecretRef,
      plain: trimmed(spec.settings?.contrabassEncryptKey),
    },
  };
  const { subnets } = config;
  if (subnets.kind === 'none') {
    fields.refuse('subnetIDs, subnetID or subnetName', 'is required', 'SubnetRequired');
  }
  return fields.problems.length > 0 || subnets.kind === 'none'
    ? { kind: 'refused', problems: fields.problems }
    : { kind: 'resolved', config: { ...config, subnets } };
}

function identities({ credentials }: OpenstackConfigSpec, fields: Fields) {
  const openstackProviderId = trimmed(credentials.openstackProviderID) ?? '';
  const projectId = trimmed(credentials.projectID) ?? '';
  if (openstackProviderId === '') {
    fields.refuse('spec.credentials.openstackProviderID', 'is required');
  }
  if (projectId === '') fields.refuse('spec.credentials.projectID', 'is required');
  const providerId = trimmed(credentials.k8sProviderID) ?? openstackProviderId;
  return { openstackProviderId, projectId, providerId };
}

function polling(spec: OpenstackConfigSpec, operator: OperatorSettings, fields: Fields): Polling {
  const settings = spec.settings ?? {};
  const interval = (key: 'pollFastInterval' | 'pollSlowInterval' | 'pollErrorInterval') =>
    fields.duration(`spec.settings.${key}`, settings[key], operator[key], shortestPollMs);
  const fastMs = interval('pollFastInterval');
  const window = settings.pollFastWindow;
  return {
    fastMs,
    // Slow is never faster than fast, as in every generation before.
    slowMs: Math.max(fastMs, interval('pollSlowInterval')),
    errorMs: interval('pollErrorInterval'),
    windowMs: fields.duration('spec.settings.pollFastWindow', window, operator.pollFastWindow, 0),
  };
}

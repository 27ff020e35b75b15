import { at, type Json, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Cause } from '../objects/status-error.ts';
import { type CrdSpec, crdSpecEdge } from './crd.ts';
import type { Strategy } from './resource-type.ts';
import { invalidCause } from './strategies.ts';

/** A definition is served as soon as it is stored; its objects go before it does. */
export const crdStrategy: Strategy = {
  prepareCreate: withStatus,
  prepareUpdate: withStatus,
  validate(object) {
    const result = crdSpecEdge.safeParse(object['spec']);
    if (result.success) return rulesOf(object.metadata.name, result.data);
    return result.error.issues.map((issue) =>
      invalidCause(['spec', ...issue.path].join('.'), '', issue.message),
    );
  },
  deletionFinalizers: ['customresourcecleanup.apiextensions.k8s.io'],
};

function rulesOf(name: string, spec: CrdSpec): readonly Cause[] {
  const wanted = `${spec.names.plural}.${spec.group}`;
  const stored = spec.versions.filter((version) => version.storage).length;
  return [
    ...(name === wanted
      ? []
      : [invalidCause('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]),
    ...(stored === 1
      ? []
      : [
          invalidCause(
            'spec.versions',
            null,
            'must have exactly one version marked as storage version',
          ),
        ]),
  ];
}

function withStatus(definition: KubeObject): KubeObject {
  const parsed = crdSpecEdge.safeParse(definition['spec']);
  if (!parsed.success) return definition;
  const { names, versions } = parsed.data;
  const accepted: JsonObject = {
    singular: names.kind.toLowerCase(),
    listKind: `${names.kind}List`,
    ...(at(definition, 'spec', 'names') as JsonObject),
  };
  const stored: readonly Json[] = versions.filter((one) => one.storage).map((one) => one.name);
  const since = definition.metadata.creationTimestamp ?? null;
  return {
    ...definition,
    spec: {
      conversion: { strategy: 'None' },
      ...(definition['spec'] as JsonObject),
      names: accepted,
    },
    status: {
      acceptedNames: accepted,
      storedVersions: stored,
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found', since),
        condition(
          'Established',
          'InitialNamesAccepted',
          'the initial names have been accepted',
          since,
        ),
      ],
    },
  };
}

function condition(type: string, reason: string, message: string, since: Json): JsonObject {
  return { type, status: 'True', reason, message, lastTransitionTime: since };
}

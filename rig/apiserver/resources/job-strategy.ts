import { at, isObject, type Json, type JsonObject, sameJson } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/object.ts';
import type { Cause } from '../objects/status-error.ts';
import type { Strategy } from './resource-type.ts';
import { invalidCause, requiredCause } from './strategies.ts';

/** The labels that tie Pods to their Job, the old names and the prefixed ones of Kubernetes 1.27. */
function jobLabels(name: string, uid: string): Readonly<Record<string, string>> {
  return {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
}

/** Jobs select their Pods by the Job's uid; template, selector and completions never change. */
export const jobStrategy: Strategy = {
  prepareCreate: withSelector,
  validate,
  // batch/v1 keeps Pods of a deleted Job unless told otherwise; kubectl always says Background.
  defaultPropagation: 'Orphan',
};

function withSelector(job: KubeObject, uid: string): KubeObject {
  const spec = objectAt(job, 'spec');
  if (spec['manualSelector'] === true) return job;
  const template = objectAt(spec, 'template');
  const metadata = objectAt(template, 'metadata');
  const labels = { ...objectAt(metadata, 'labels'), ...jobLabels(job.metadata.name, uid) };
  const selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
  // A Job without labels gets those of its template.
  const own = job.metadata.labels ? job : withMeta(job, { labels });
  return {
    ...own,
    spec: { ...spec, selector, template: { ...template, metadata: { ...metadata, labels } } },
  };
}

function validate(job: KubeObject, live: KubeObject | undefined): readonly Cause[] {
  return [...restartPolicyCauses(job), ...(live ? immutableCauses(job, live) : [])];
}

function restartPolicyCauses(job: KubeObject): readonly Cause[] {
  const field = 'spec.template.spec.restartPolicy';
  const policy = at(job, 'spec', 'template', 'spec', 'restartPolicy');
  if (policy === 'Never' || policy === 'OnFailure') return [];
  return [requiredCause(field, 'valid values: "OnFailure", "Never"')];
}

/** The template of a suspended Job that never started may still get scheduling directives; nothing else may change. */
function immutableCauses(job: KubeObject, live: KubeObject): readonly Cause[] {
  const fields = ['completions', 'selector', 'completionMode', 'template'];
  return fields.flatMap((field) => {
    const now = comparable(job, live, field);
    const before = comparable(live, live, field);
    return sameJson(now, before)
      ? []
      : [invalidCause(`spec.${field}`, now ?? null, 'field is immutable')];
  });
}

const schedulingDirectives = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'];

function comparable(job: KubeObject, live: KubeObject, field: string): Json | undefined {
  const value = at(job, 'spec', field);
  const mutable = at(live, 'spec', 'suspend') === true && !at(live, 'status', 'startTime');
  if (field !== 'template' || !mutable || !isObject(value)) return value;
  const spec = Object.entries(objectAt(value, 'spec')).filter(
    ([key]) => !schedulingDirectives.includes(key),
  );
  return { spec: Object.fromEntries(spec) };
}

function objectAt(value: Json | undefined, key: string): JsonObject {
  const member = at(value, key);
  return isObject(member) ? member : {};
}

import { open, stringMap, withDefault } from '../schema/fragments.ts';
import type { Schema } from '../schema/schema.ts';
import { podSpec } from './pod-schema.ts';

const template = open({
  metadata: open({ labels: stringMap, annotations: stringMap }),
  // A Job's template must say Never or OnFailure itself: no default is accepted.
  spec: podSpec({}),
});

/** `spec` and `status` of a Job. Its conditions are an atomic list, unlike those of most kinds. */
export const jobSchema: Readonly<Record<string, Schema>> = {
  spec: open({
    parallelism: withDefault(1),
    completions: withDefault(1),
    backoffLimit: withDefault(6),
    completionMode: withDefault('NonIndexed'),
    suspend: withDefault(false),
    podReplacementPolicy: withDefault('TerminatingOrFailed'),
    manualSelector: withDefault(false),
    selector: open({ matchLabels: stringMap }),
    template,
  }),
  status: { ...open(), default: {} },
};

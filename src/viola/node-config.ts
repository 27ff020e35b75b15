import * as z from 'zod';
import {
  type MultiNicNodeConfig,
  nodeConfigSpec,
  nodeConfigStatus,
} from '../api/multinicnodeconfig.ts';
import { annotations, businessGroup } from '../api/names.ts';
import { type HeldNode, type Source, source } from '../api/node-configs-http.ts';
import { defineResource } from '../kube/resource.ts';

export const nodeConfigs = defineResource<MultiNicNodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});

/** Where an object came from, as its annotation says; undefined when it has none that can be read. */
export function sourceOf({ metadata }: MultiNicNodeConfig): Source | undefined {
  const text = metadata.annotations?.[annotations.source];
  if (text === undefined) return undefined;
  return z
    .string()
    .transform((json, context): unknown => {
      try {
        return JSON.parse(json);
      } catch {
        context.addIssue('is not JSON');
        return z.NEVER;
      }
    })
    .pipe(source)
    .safeParse(text).data;
}

/** An object in the form in which callers read it. Throws on a spec of no known form: left out, it would look absent. */
export function toHeldNode(object: MultiNicNodeConfig): HeldNode {
  const { metadata } = object;
  const from = sourceOf(object);
  const spec = nodeConfigSpec.parse(object.spec);
  const status = nodeConfigStatus.safeParse(object.status ?? {});
  return {
    nodeName: spec.nodeName,
    uid: metadata.uid ?? '',
    generation: metadata.generation ?? 0,
    spec,
    ...(status.success && object.status ? { status: status.data } : {}),
    ...(metadata.deletionTimestamp ? { deletionTimestamp: metadata.deletionTimestamp } : {}),
    ...(from ? { source: from } : {}),
  };
}

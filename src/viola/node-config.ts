import * as z from 'zod';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { annotations, businessGroup, labels } from '../api/names.ts';
import { defineResource } from '../kube/resource.ts';

export const nodeConfigs = defineResource<MultiNicNodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});

/**
 * Whether an object is the provider's. Two registrations may name one cluster and namespace, and the token of one must
 * not reach the nodes of the other; an object that names no provider, or that somebody marked, may be taken by any.
 */
export function isOf(providerId: string, object: MultiNicNodeConfig): boolean {
  const { providerId: owner } = textsOf(object);
  return (
    owner === '' ||
    owner === providerId ||
    object.metadata.annotations?.[annotations.takeOver] !== undefined
  );
}

/** The node that an object is about; one that names none (the controller refuses it) is known by its own name. */
export function nodeNameOf(object: MultiNicNodeConfig): string {
  return textsOf(object).nodeName || object.metadata.name;
}

/** Whether an object is about this server; the API server and Nova may write its id in other cases. */
export function isOnServer(object: MultiNicNodeConfig, instanceId: string | undefined): boolean {
  const held = textsOf(object).instanceId.toLowerCase();
  return held !== '' && held === instanceId?.toLowerCase();
}

/** Nova server id that an object names, lower case; '' when it names none. */
export function instanceIdOf(object: MultiNicNodeConfig): string {
  const id = textsOf(object).instanceId || object.metadata.labels?.[labels.instanceId] || '';
  return id.trim().toLowerCase();
}

const text = z.string().trim().catch('');
const texts = z.object({ providerId: text, nodeName: text, instanceId: text });

/** What of an object's identity can be read; an earlier, looser schema may have let anything in. */
function textsOf({ spec }: { readonly spec: unknown }): z.infer<typeof texts> {
  return texts.catch({ providerId: '', nodeName: '', instanceId: '' }).parse(spec);
}

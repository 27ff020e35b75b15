import { createHash } from 'node:crypto';
import { type CheckNodesRequest, checkNodesRequest } from '../../../api/check-nodes.ts';
import { jsonIn } from '../../../api/json.ts';
import { annotations } from '../../../api/names.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

/** Request in the annotation multinic.io/check-nodes. `id`: later the value in `status.lastHandledCheckNodes`. */
export type AnnotatedRequest =
  | ({ readonly kind: 'usable' } & CheckNodesRequest)
  | { readonly kind: 'unusable'; readonly id: string; readonly message: string };

/** Reads the annotation; undefined: no request. */
export function checkNodesOf({
  metadata,
}: Pick<ConfigObject, 'metadata'>): AnnotatedRequest | undefined {
  const text = metadata.annotations?.[annotations.checkNodes] ?? '';
  if (text.trim() === '') return undefined;
  const parsed = checkNodesRequest.safeParse(jsonIn(text));
  if (parsed.success) {
    const { nodes, ...rest } = parsed.data;
    return { kind: 'usable', ...rest, nodes: [...new Set(nodes)] };
  }
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  const form = 'write {"id": "1", "nodes": ["NODE"], "heal": false} with at most 50 nodes';
  const message = `${annotations.checkNodes} cannot be used: ${where}${issue?.message ?? ''}; ${form}`;
  return { kind: 'unusable', id: `unusable ${hashOf(text)}`, message };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

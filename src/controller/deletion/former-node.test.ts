import { describe, expect, it } from 'vitest';
import {
  agentTask,
  instanceId,
  node,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Node } from '../../kube/core-resources.ts';
import { begun, ended } from '../jobs/applied.ts';
import { createStores, type NodeConfig } from '../objects/stores.ts';
import { createFindFormerNode } from './former-node.ts';

const at = new Date('2026-01-01T00:00:00Z');
const here = node('worker-2', instanceId);

/** Returns the recorded Node, to which the object no longer refers. */
function former(change: { uid?: string; machineID?: string; systemUUID?: string } = {}): Node {
  const { uid = 'uid-of-worker-1', machineID = 'machine-1', systemUUID = 'uuid-1' } = change;
  const made = node('worker-1', systemUUID);
  const nodeInfo = { ...made.status?.nodeInfo, machineID };
  return { ...made, metadata: { name: 'worker-1', uid }, status: { nodeInfo } } as Node;
}

/** Returns the object after an agent run on worker-1. */
function applied(action: 'apply' | 'cleanup' = 'apply', spec: object = {}): NodeConfig {
  const open = begun(agentTask({ action }), 'job-1', { protocol: 2 }, at);
  const lost = { kind: 'failure', reason: 'ResultLost', message: '' } as const;
  const record = action === 'cleanup' ? { ...ended(open, lost, at), done: true } : open;
  return nodeConfig({ status: { applied: record }, spec: { nodeName: 'worker-2', ...spec } });
}

async function found(config: NodeConfig, there: Node | undefined, others: NodeConfig[] = []) {
  const stores = createStores();
  for (const one of [here, ...(there ? [there] : [])]) stores.nodes.upsert(one);
  for (const one of [config, ...others]) stores.configs.upsert(one);
  const find = () => Promise.resolve(there);
  const formerNode = createFindFormerNode({ find } as unknown as KubeClient, stores);
  const target = config.spec?.instanceId === undefined ? here : stores.nodes.get('worker-2');
  const answer = await formerNode(config, target, new AbortController().signal);
  return answer && !answer.successor ? answer.node.metadata.name : undefined;
}

describe('createFindFormerNode', () => {
  it('the former node is returned while its machine matches the record, even re-registered', async () => {
    expect(await found(applied(), former())).toBe('worker-1');
    expect(await found(applied(), former({ uid: 'registered-anew' }))).toBe('worker-1');
  });

  it.each([
    ['is gone', undefined],
    ['was rebuilt in place and has no NICs from us', former({ machineID: 'new' })],
    ['reports no machine id and has another uid', former({ machineID: '', uid: 'other' })],
    ['reports no systemUUID and may be the current node', former({ systemUUID: '' })],
    ['is the current machine under its former name', former({ systemUUID: instanceId })],
  ])('the former node is skipped when it %s', async (_, there) => {
    expect(await found(applied(), there)).toBeUndefined();
  });

  it('the former node is skipped when it is the current machine under a second name', async () => {
    const config = applied('apply', { instanceId: undefined });
    expect(await found(config, former({ systemUUID: instanceId }))).toBeUndefined();
    expect(await found(config, former())).toBe('worker-1');
  });

  it('the former node has a successor when another object refers to it', async () => {
    const other = nodeConfig({
      metadata: { name: 'other', uid: 'uid-2' },
      spec: { nodeName: 'worker-1', instanceId: 'uuid-1' },
    });
    expect(await found(applied(), former(), [other])).toBeUndefined();
  });

  it('the former node is skipped when the last completed run was a clean-up', async () => {
    expect(await found(applied('cleanup'), former())).toBeUndefined();
  });
});

import { expect, it } from 'vitest';
import { entry, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { changedSettings, type Setting, sharedOf } from '../../api/shared-content.ts';
import { Store } from '../../kube/cache/store.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { imageHash, sourceOf, wantedRevision } from './revision.ts';
import { RolloutNodes } from './rollout-nodes.ts';
import { settingRevision } from './setting-revision.ts';

const nics = (mtu: number) => [entry(0, { mtu })];
const spec = { interfaces: nics(1400) };
const image = imageHash('agent:1');

function mtuSetting(mtu: number): Setting {
  const [setting] = changedSettings(sharedOf(nics(9000)), sharedOf(nics(mtu)));
  if (!setting) throw new Error('the sample has no setting');
  return setting;
}

/** Returns an object that wants MTU 1400, after a run with this MTU. */
function afterRun(name: string, mtu: number, at: string): NodeConfig {
  const run = { ...mtuSetting(mtu), rollout: 'done', at };
  const record = { objectUid: name, nodeName: name, action: 'apply', done: true, at };
  const metadata = { name, uid: name, generation: 2 };
  const wanted = nodeConfig({ metadata, spec });
  const revision = wantedRevision(wanted, image);
  const applied = { ...record, revision, shared: sharedOf(nics(mtu)), settings: [run] };
  return nodeConfig({ metadata, spec, status: { applied } });
}

it.each([
  ['the same second as', '2026-11-28T10:00:00Z', 0],
  ['a second before', '2026-11-28T09:59:59Z', 1],
])('a node counts if other nodes got the former value %s the node: %s', (_, former, done) => {
  const configs = new Store<NodeConfig>();
  const first = afterRun('n1', 1400, '2026-11-28T10:00:00Z');
  for (const object of [first, afterRun('n2', 1420, former)]) configs.upsert(object);
  const nodes = new RolloutNodes(image);
  nodes.follow(configs, () => undefined);
  const revision = settingRevision(sourceOf(first).uid, mtuSetting(1400));
  expect(nodes.done(revision)).toBe(done);
});

import { expect, it } from 'vitest';
import { agentTask, entry, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { sharedOf } from '../../api/shared-content.ts';
import {
  changesNics,
  imageHash,
  imageIn,
  isOtherRevision,
  isReported,
  sourceIn,
  sourceOf,
  wantedRevision,
} from './revision.ts';

const source = { uid: 'config-1', generation: 4 };
const text = JSON.stringify({ namespace: 'ns', name: 'a', ...source });

it.each([
  ['the OpenstackConfig', { 'multinic.io/source': text }, source],
  ['the MultiNicBizConfig', { 'multinic.io/biz-source': text }, source],
  [
    'the OpenstackConfig of both',
    { 'multinic.io/source': text, 'multinic.io/biz-source': '{}' },
    source,
  ],
  ['the namespace without a source', {}, { uid: 'namespace/multinic-system', generation: 0 }],
  [
    'the namespace with a broken source',
    { 'multinic.io/source': '{' },
    { uid: 'namespace/multinic-system', generation: 0 },
  ],
  [
    'the namespace with a uid of no form',
    { 'multinic.io/source': '{"uid":"a/b","generation":1}' },
    { uid: 'namespace/multinic-system', generation: 0 },
  ],
])('the source of an object is %s', (_which, annotations, expected) => {
  expect(sourceOf(nodeConfig({ metadata: { annotations, generation: 7 } }))).toEqual(expected);
});

const run = agentTask({ content: 'new' });
const record = {
  objectUid: 'uid-1',
  action: 'apply',
  content: 'old',
  nodeName: 'worker-1',
  nodeUid: 'uid-of-worker-1',
  machineId: 'machine-1',
  job: 'job-1',
  attempt: 1,
  protocol: 2,
  at: '2026-01-01T00:00:00Z',
  done: true,
  macs: ['fa:16:3e:00:00:00'],
  revision: 'config-1/3/image',
};

const image = imageHash('agent:1');
const nics = [entry(0), entry(1)];
const shared = sharedOf(nics);
const changed = [entry(0, { mtu: 1400 }), entry(1)];

/** Returns an object without a source, with the record of a run. */
function recorded(interfaces: readonly object[], applied: object, metadata: object = {}) {
  const status = { applied: { ...record, shared, ...applied } };
  return nodeConfig({ metadata, spec: { providerId: 'p/1', interfaces }, status });
}

const base = `provider/p/1/0/${image}`;

it.each<[string, ReturnType<typeof nodeConfig>, string]>([
  ['no record', nodeConfig({ spec: { providerId: 'p/1' } }), base],
  ['the recorded settings', recorded(nics, { revision: base }), base],
  ['a new MTU', recorded(changed, { revision: base }), base],
  ['a change in a record from an earlier version', recorded(nics, { revision: `${base}~1` }), base],
  [
    'a record from an earlier version',
    recorded(nics, { revision: `uid-1/0/${image}` }),
    `uid-1/0/${image}`,
  ],
  ['a record with a different image', recorded(nics, { revision: `uid-1/0/x` }), base],
  [
    'a source annotation',
    recorded(changed, { revision: base }, { annotations: { 'multinic.io/source': text } }),
    `config-1/4/${image}`,
  ],
])('wantedRevision with %s', (_case, config, revision) => {
  expect(wantedRevision(config, image)).toBe(revision);
  expect(revision.startsWith(`${sourceIn(revision)}/`)).toBe(true);
  expect(imageIn(`${revision}~1`)).toBe(image);
});

it('wantedRevision has at most 128 characters with a long source', () => {
  const annotations = {
    'multinic.io/source': JSON.stringify({
      uid: 'u'.repeat(64),
      generation: Number.MAX_SAFE_INTEGER,
    }),
  };
  for (const config of [
    recorded(changed, {}, { annotations }),
    { ...recorded(changed, {}), spec: { providerId: 'p'.repeat(253), interfaces: changed } },
    { ...recorded(changed, {}, { namespace: 'n'.repeat(63) }), spec: { interfaces: changed } },
  ]) {
    const revision = wantedRevision(config, image);
    expect(revision.length).toBeLessThanOrEqual(128);
    expect(sourceIn(revision)).toBe(sourceOf(config).uid);
  }
});

it.each([
  ['other content and another revision', {}, true],
  ['a record of an earlier version', { revision: undefined }, true],
  ['a run before it that has not ended', { done: undefined }, true],
  ['a run before it that failed', { done: false }, true],
  ['the same revision, as when a port is attached', { revision: 'config-1/4/image' }, false],
  ['the same content, as of a retry', { content: 'new' }, false],
  ['no NIC on the node', { macs: [] }, false],
  ['another node', { nodeName: 'worker-2' }, false],
  ['another machine under the name', { machineId: 'machine-2' }, false],
  ['a Node that registered again', { nodeUid: 'uid-2' }, true],
  ['a record that is undone', { undone: true }, false],
  ['a clean-up before it', { action: 'cleanup' }, false],
  ['a record of another object', { objectUid: 'uid-2' }, false],
])('the budget counts a run after %s: %s', (_before, change, expected) => {
  const applied = JSON.parse(JSON.stringify({ ...record, ...change })) as object;
  const config = nodeConfig({ status: { applied } });
  const isCounted = changesNics(config, run) && isOtherRevision(config, 'config-1/4/image');
  expect(isCounted).toBe(expected);
});

it('the budget counts no clean-up and no first apply', () => {
  const applied = nodeConfig({ status: { applied: record } });
  expect(changesNics(applied, { ...run, action: 'cleanup' })).toBe(false);
  expect(changesNics(nodeConfig(), run)).toBe(false);
});

it.each([
  [true, undefined, true],
  [undefined, undefined, false],
  [false, ['WaitingForNIC', 'ApplyFailed'], true],
  [false, ['ApplyFailed', 'JobFailed'], false],
  [false, ['ResultLost'], false],
  [false, [], false],
])(
  'an agent whose record has done %s and reasons %s has reported: %s',
  (done, reasons, expected) => {
    expect(isReported({ done, reasons })).toBe(expected);
  },
);

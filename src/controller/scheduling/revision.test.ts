import { expect, it } from 'vitest';
import { agentTask, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { imageHash, isBudgeted, isReported, revisionOf, sourceOf } from './revision.ts';

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
  ['the object itself without a source', {}, { uid: 'uid-1', generation: 0 }],
  [
    'the object itself with a broken source',
    { 'multinic.io/source': '{' },
    { uid: 'uid-1', generation: 0 },
  ],
  [
    'the object itself with a uid of no form',
    { 'multinic.io/source': '{"uid":"a/b","generation":1}' },
    { uid: 'uid-1', generation: 0 },
  ],
])('the source of an object is %s', (_which, annotations, expected) => {
  expect(sourceOf(nodeConfig({ metadata: { annotations, generation: 7 } }))).toEqual(expected);
});

it('a revision contains source, generation and image hash', () => {
  expect(revisionOf(source, imageHash('agent:1'))).toMatch(/^config-1\/4\/[0-9a-f]{12}$/);
  expect(imageHash('agent:1')).not.toBe(imageHash('agent:2'));
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
  expect(isBudgeted(config, run, 'config-1/4/image')).toBe(expected);
});

it('the budget counts no clean-up and no first apply', () => {
  const applied = nodeConfig({ status: { applied: record } });
  expect(isBudgeted(applied, { ...run, action: 'cleanup' }, 'r')).toBe(false);
  expect(isBudgeted(nodeConfig(), run, 'r')).toBe(false);
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

import { afterEach, beforeEach, expect, it } from 'vitest';
import { BizSources, bizNode } from '../../test/fixtures/biz-samples.ts';
import { checksOn } from '../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { configured } from '../../test/fixtures/scripted-agents.ts';
import type { KubeClient } from '../kube/client/client.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => fixture[Symbol.asyncDispose]());

const { answerChecks, ask, configure } = checksOn(() => fixture);

const writes = new Set<PropertyKey>([
  'apply',
  'applyStatus',
  'create',
  'delete',
  'patch',
  'patchStatus',
]);

/** Refuses every write, as an API server with a read-only etcd does. */
function readOnly(client: KubeClient): KubeClient {
  return new Proxy(client, {
    get: (target, key) => {
      const method = Reflect.get(target, key) as unknown;
      if (!writes.has(key) || typeof method !== 'function') return method;
      return async () => Promise.reject(new Error('the API server refuses writes'));
    },
  });
}

it.each(['node-config', 'drift', 'biz-config'])(
  'multinic_reconcile_total counts the failures of controller %s while all writes are refused',
  async (controller) => {
    answerChecks(configured);
    await configure();
    await fixture.stop();
    fixture.through = readOnly;
    await ask('one');
    await fixture.addNode('worker-2', 'i-2');
    await fixture.apply('worker-2', { instanceId: 'i-2', interfaces: [] });
    await new BizSources(fixture).create('all', [bizNode(3, [1])]);
    fixture.run();
    const failed = `multinic_reconcile_total{controller="${controller}",result="error",status="reconcile_error"}`;
    let shown = '';
    await fixture.eventually(
      async () => {
        shown = await fixture.metrics.registry.getSingleMetricAsString('multinic_reconcile_total');
        return shown.includes(failed);
      },
      () => shown,
    );
    expect(fixture.lines.join('')).toContain('the API server refuses writes');
  },
);

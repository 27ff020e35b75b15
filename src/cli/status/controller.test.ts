import { expect, it } from 'vitest';
import { startScene } from '../../../test/fixtures/cli/scene.ts';
import { agentAppName, labels, namespaces } from '../../api/names.ts';
import { deployments } from '../../kube/core-resources.ts';

const business = ['--business-context', 'biz-1=biz-context'];

it.each([
  { title: '0 replicas', replicas: 0, ready: 0, expected: 5, shown: '0.2.0 (0/0)' },
  { title: 'no ready replica', replicas: 1, ready: 0, expected: 5, shown: '0.2.0 (0/1)' },
  { title: 'a ready replica', replicas: 1, ready: 1, expected: 0, shown: '0.2.0  ' },
])('status ends with $expected for a controller with $title', async (row) => {
  const { replicas, ready, expected, shown } = row;
  const scene = await startScene();
  const own = {
    [labels.component]: 'controller',
    [labels.appName]: agentAppName,
    'app.kubernetes.io/version': '0.2.0',
  };
  const metadata = { namespace: namespaces.system, name: 'multinic-agent-controller', labels: own };
  const containers = [{ name: 'main', image: 'multinic:0.2.0' }];
  const template = { metadata: { labels: own }, spec: { containers } };
  const spec = { replicas, selector: { matchLabels: own }, template };
  await scene.client.create(deployments, { metadata, spec });
  await scene.client.patchStatus(deployments, metadata, {
    status: { replicas, readyReplicas: ready },
  });
  const { status, out } = await scene.run('status', ...business);
  expect(out).toContain(shown);
  expect(out.includes('biz-1/controller')).toBe(expected !== 0);
  expect(status).toBe(expected);
});

it.each(['status', 'doctor', 'why 10.40.0.18'])(
  '%s refuses access options for an unknown business cluster',
  async (command) => {
    const scene = await startScene();
    const argv = [...command.split(' '), '--business-context', 'biz-9=biz-context'];
    const { status, err } = await scene.run(...argv);
    expect(err).toContain('names the business cluster biz-9; did you mean `biz-1`?');
    expect(status).toBe(1);
  },
);

import { expect, it } from 'vitest';
import { type CliFixture, startScene } from '../../../test/fixtures/cli/scene.ts';
import { configMaps } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../../session/facts/kinds.ts';

const direct = ['--business-context', 'biz-1=biz-context'];
const command = 'kubectl --context biz-context get cm kubeadm-config -n kube-system -o yaml';

/** Creates a node with two isolated NICs in one subnet, and a third NIC in the subnet 10.96.0.0/24. */
async function createNode({ client }: CliFixture): Promise<void> {
  const interfaces = ['10.7.0.4/24', '10.7.0.5/24', '10.96.0.9/24'].map((cidr, id) => ({
    id,
    macAddress: `fa:16:3e:00:00:0${id}`,
    addresses: [cidr],
    routing: 'isolated' as const,
  }));
  const metadata = { namespace: 'multinic-system', name: 'worker-18' };
  await client.create(nodeConfigs, { metadata, spec: { nodeName: 'worker-18', interfaces } });
}

async function createKubeadmConfig({ client }: CliFixture, text: string): Promise<void> {
  const metadata = { namespace: 'kube-system', name: 'kubeadm-config' };
  await client.create(configMaps, { metadata, data: { ClusterConfiguration: text } });
}

const networking = 'networking: {serviceSubnet: 10.96.0.0/12, podSubnet: 10.244.0.0/16}';

it('doctor warns of shared and overlapping subnets before the upgrade, with exit status 0', async () => {
  const scene = await startScene();
  await createNode(scene);
  await createKubeadmConfig(scene, networking);
  const { status, out } = await scene.run('doctor', ...direct);
  expect(out).toMatch(
    /biz-1\/worker-18 {2}PathBypassed +multinic0 and multinic1 share 10\.7\.0\.0\/24/,
  );
  expect(out).toMatch(
    /biz-1\/worker-18 {2}NodePathTaken +multinic2 .*\(Services, from kubeadm-config\)/,
  );
  expect(out).toContain('Next: set spec.settings.routing of the OpenstackConfig to pbr');
  expect(status).toBe(0);
  expect(await scene.run('doctor', ...direct, '--fail-on', 'warning')).toMatchObject({ status: 5 });
});

it('doctor prefers the networks that the controller publishes', async () => {
  const scene = await startScene();
  await createNode(scene);
  await createKubeadmConfig(scene, networking);
  const list = ['Services', 'Pods'].map((use) => ({ cidr: '172.20.0.0/16', use, source: 'x' }));
  await scene.client.create(configMaps, {
    metadata: { namespace: 'multinic-system', name: 'multinic-cluster-networks' },
    data: { 'networks.json': JSON.stringify(list) },
  });
  const { out } = await scene.run('doctor', ...direct);
  expect(out).toContain('PathBypassed');
  expect(out).not.toMatch(/NodePathTaken|networks for/);
});

it('doctor prints the command for kubeadm-config when its content is unreadable', async () => {
  const scene = await startScene();
  await createNode(scene);
  await createKubeadmConfig(scene, 'networking: {serviceSubnet: nonsense}');
  const { out } = await scene.run('doctor', ...direct);
  expect(out).toContain('incomplete: business cluster (context biz-context): kubeadm-config: ');
  expect(out).toContain(`Next: ${command}`);
});

it('doctor skips nothing when the cluster has no kubeadm-config', async () => {
  const scene = await startScene();
  await createNode(scene);
  const { out } = await scene.run('doctor', ...direct);
  expect(out).toContain('PathBypassed');
  expect(out).not.toMatch(/networks for/i);
});

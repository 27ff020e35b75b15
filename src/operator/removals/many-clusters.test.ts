import { expect, it } from 'vitest';
import { finalizers } from '../../api/names.ts';
import { attach, setScene, spec } from '../testing/scene.ts';

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, '0');
}

/** Returns the 30 servers of a business cluster. */
function serversOf(cluster: number): string[] {
  return Array.from(
    { length: 30 },
    (_, n) => `00000000-0000-4000-8000-${hex(cluster, 4)}${hex(n, 8)}`,
  );
}

it('[N5] an edit cannot remove 58 NICs from one business cluster when the cloud has ten', async () => {
  await using scene = await setScene();
  for (let cluster = 0; cluster < 10; cluster++) {
    for (const [n, id] of serversOf(cluster).entries()) {
      scene.cloud.vms.push({ id, name: `c${cluster}-w${n}`, status: 'ACTIVE', metadata: {} });
      for (const nic of [0, 1]) {
        attach(scene.cloud, 2 * n + nic + 1, 1);
        const port = scene.cloud.ports.pop();
        const macAddress = `fa:16:3e:${hex(cluster, 2)}:${hex(n, 2)}:0${nic}`;
        const own = { id: `p${cluster}-${n}-${nic}`, deviceId: id, macAddress };
        if (port) scene.cloud.ports.push({ ...port, ...own });
      }
    }
    const credentials = { ...spec.credentials, k8sProviderID: `biz-${cluster}` };
    const name = cluster === 0 ? 'osc' : `osc-${cluster}`;
    const wanted = { ...spec, credentials, vmNames: serversOf(cluster) };
    scene.kube.create(wanted, { name, uid: name, finalizers: [finalizers.openstackConfig] });
    await scene.lookAt(`multinic-system/${name}`);
  }
  const credentials = { ...spec.credentials, k8sProviderID: 'biz-0' };
  scene.edit({ credentials, vmNames: serversOf(0).slice(0, 1) });
  await scene.look();
  expect(scene.viola.removals).toEqual([]);
  expect(scene.ready()).toContain('OverBudget: 29 of 30 nodes in the business cluster');
});

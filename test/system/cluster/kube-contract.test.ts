import { startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { kubeContract } from '../../contract/kube/contract.ts';

kubeContract('a real control plane', async () => {
  const plane = await startControlPlane('kube');
  return {
    access: await loadKubeconfig(plane.kubeconfig),
    accessAs: async (user) => loadKubeconfig(await plane.userKubeconfig(user)),
    [Symbol.asyncDispose]: () => plane.down(),
  };
});

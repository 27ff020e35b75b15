import { afterAll, beforeAll } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { kubeContract } from '../../contract/kube/contract.ts';
import { brokerSecretTests } from './broker-secret-tests.ts';
import { chartSchemaTests } from './chart-schema-tests.ts';
import { cliTests } from './cli-tests.ts';
import { crdTests } from './crd-tests.ts';
import { rbacTests } from './rbac-tests.ts';
import { writeTimeoutTests } from './write-timeout-tests.ts';

// A real API server with controllers and without nodes, shared by all tests that need no nodes.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane('itcluster');
});

afterAll(() => plane?.down());

// First, as no CRD may have been deleted before.
brokerSecretTests(() => plane);
writeTimeoutTests(() => plane);
crdTests(() => plane);
rbacTests(() => plane);
cliTests(() => plane);
chartSchemaTests(() => plane);
// Last, as its many namespaces take the longest to delete.
kubeContract('a real control plane', async () => ({
  access: await loadKubeconfig(plane.kubeconfig),
  accessAs: async (user) => loadKubeconfig(await plane.userKubeconfig(user)),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}));

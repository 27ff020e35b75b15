import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { type CliFixture, home, startScene } from '../../test/fixtures/cli/scene.ts';
import { roleBindings, roles } from '../kube/core-resources.ts';

const forwardError = 'error: lost connection to pod';

it.each([
  { expected: 1, argv: ['why', '10.40.0.18'] },
  { expected: 1, argv: ['why', 'be0f33c1-0000-4000-8000-000000000077'] },
  { expected: 6, argv: ['doctor'] },
  { expected: 6, argv: ['status'] },
])('$argv ends with $expected when the operator is unreachable', async ({ expected, argv }) => {
  const scene = await startScene({ forwardError });
  const { status, out } = await scene.run(...argv);
  expect(out).toContain('kubectl port-forward failed: error: lost connection to pod');
  expect(status).toBe(expected);
});

it('nodes of a user who may read the Lease but no Deployment asks for the missing right', async () => {
  const scene = await startScene({
    user: 'jane',
    forwardError: `Error from server (Forbidden): pods "p" is forbidden: User "jane" cannot create resource "pods/portforward" in API group "" in the namespace "${home}"`,
  });
  const metadata = { namespace: home, name: 'leases' };
  const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }];
  await scene.client.create(roles, { metadata, rules });
  await scene.client.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'leases' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  });
  const { err } = await scene.run('nodes');
  expect(err).toContain('no access to port-forward (403)');
  expect(err).toContain(`kubectl -n ${home} create rolebinding multinic-reader-jane`);
});

it('nodes names an absent token file', async () => {
  const scene = await startScene();
  const inventory = ['--inventory', 'http://127.0.0.1:1', '--token-file', '/absent/token'];
  const { status, err } = await scene.run('nodes', ...inventory);
  expect(status).toBe(1);
  expect(err).toContain('/absent/token');
  expect(err).toContain('Next: give a readable file with --token-file');
});

it('status with --inventory needs no management cluster: a list of kubeconfigs is only unread', async () => {
  const scene = await startScene();
  vi.stubEnv('MULTINIC_KUBECTL', '/absent/kubectl');
  vi.stubEnv('KUBECONFIG', '/absent/a:/absent/b');
  const { out, status } = await scene.run(
    'status',
    '--inventory',
    `http://127.0.0.1:${scene.operatorPort}`,
  );
  expect(out).toContain('/absent/a:/absent/b is a list of kubeconfigs');
  expect(status).toBe(6);
});

it.each([
  ['--business-kubeconfig', 'biz-1=/absent/biz-1', 'the kubeconfig /absent/biz-1 does not exist'],
  ['--business-context', 'biz-1=absent', 'context "absent" does not exist'],
])('doctor names %s %s when kubectl cannot use the business cluster', async (...row) => {
  const [option, value, cause] = row;
  const scene = await startScene();
  vi.stubEnv('MULTINIC_KUBECTL', await failingFor(scene, '/absent/'));
  const { out } = await scene.run('doctor', option, value);
  expect(out).toContain(cause);
  expect(out).toMatch(new RegExp(`Next: .*${option} biz-1=`));
});

/** Returns a kubectl that fails like the real one for kubeconfigs in a folder. */
async function failingFor({ folder }: CliFixture, absent: string): Promise<string> {
  const path = join(folder, 'checked-kubectl');
  const script = `case "$*" in *--kubeconfig*${absent}*) echo "error: stat ${absent}: no such file" >&2; exit 1;; esac`;
  const text = `#!/bin/sh\n${script}\nexec ${join(folder, 'kubectl')} "$@"\n`;
  await writeFile(path, text, { mode: 0o700 });
  return path;
}

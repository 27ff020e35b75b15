import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { multinic, type Shell } from '../../fixtures/cli/real-kubectl.ts';
import { generous } from '../../fixtures/e2e/acts.ts';
import { namespace, provider } from '../../fixtures/e2e/ground.ts';
import { namespaces } from '../../fixtures/e2e/installation.ts';
import type { DeployedChain } from '../../fixtures/e2e/world.ts';

const run = promisify(execFile);

/** kubectl multinic before an installed chain: the operator is a Pod, reached by port-forward. The node has one NIC. */
export function cliTests(world: () => DeployedChain): void {
  describe('kubectl multinic', () => {
    let folder: string;
    let shells: Record<'administrator' | 'reader' | 'editor', Shell>;

    beforeAll(async () => {
      const { management } = world();
      folder = await mkdtemp(join(tmpdir(), 'multinic-cli-'));
      const shell = (kubeconfig: string): Shell => ({ kubeconfig, folder });
      shells = {
        administrator: shell(management.kubeconfig),
        reader: shell(await management.userKubeconfig('cli-reader')),
        editor: shell(await management.userKubeconfig('cli-editor')),
      };
      for (const [user, role] of [
        ['cli-reader', 'view'],
        ['cli-editor', 'edit'],
      ] as const) {
        const who = `--user=${user}`;
        const create = ['create', 'clusterrolebinding', user, `--clusterrole=${role}`, who];
        await management.kubectl(create);
        const home = ['-n', namespaces.management, 'create', 'rolebinding', user];
        await management.kubectl([...home, '--role=multinic-reader', who]);
      }
      // Lists show nodes as of the last sync.
      expect(await multinic(shells.administrator, 'sync', 'e2e')).toMatchObject({ status: 0 });
    });

    afterAll(() => rm(folder, { recursive: true }));

    const reads: readonly (readonly [argv: string, shows: RegExp])[] = [
      ['status', new RegExp(`operator +ok .*[^]*${namespace}/e2e +True [^]*\\n${provider} +yes`)],
      ['nodes', new RegExp(`${provider} +worker-1 +True +Configured +1/1`)],
      ['nics', /worker-1 +multinic0 +Configured/],
      ['why worker-1/multinic0', /1 +Neutron +ok[^]*8 +Kernel +ok/],
      ['plan e2e', /No changes on 1 node\.\n/],
      ['doctor', /parts +ok[^]*nodes +ok/],
      ['version', /multinic \d/],
      ['completion bash', /complete -F/],
    ];

    describe.each(['administrator', 'reader'] as const)('as %s', (user) => {
      it.each(reads)('%s shows existing objects and exits 0', async (argv, shows) => {
        const ran = await multinic(shells[user], ...argv.split(' '));
        expect(ran).toMatchObject({ status: 0 });
        expect(ran.out).toMatch(shows);
        expect(ran.out).not.toContain('(403)');
      });
    });

    it('support-bundle with role reader has the logs from the operator and Viola', async () => {
      const { status, out } = await multinic(shells.reader, 'support-bundle', '-o', 'b.tar.gz');
      expect(status).toBe(0);
      expect(out).not.toContain('(403)');
      const { stdout } = await run('tar', ['tzf', join(folder, 'b.tar.gz')]);
      const logs = `/management/${namespaces.management}/logs`;
      expect(stdout).toContain(`${logs}/multinic-operator-controller-manager-`);
      expect(stdout).toContain(`${logs}/viola-api-`);
      expect(stdout).toContain(`/plans/${namespace}/e2e.json`);
    });

    it("doctor with both clusters' contexts in KUBECONFIG=a:b skips nothing", async () => {
      const { management, business } = world();
      const other = join(folder, 'business');
      await writeFile(other, await withOwnUser(business.kubeconfig));
      const kubeconfig = [management.kubeconfig, other].join(delimiter);
      const context = `${provider}=${business.name}`;
      const ran = await multinic({ kubeconfig, folder }, 'doctor', '--business-context', context);
      expect(ran).toMatchObject({ status: 0 });
      expect(ran.out).toContain(`${provider} (direct access)`);
      expect(ran.out).not.toMatch(/^skip/m);
    });

    it.each([
      ['sync e2e', /was synced: Ready True/],
      ['diff worker-1', /multinic0: no difference/],
      ['sync --node worker-1', /was checked and is as planned/],
    ])(
      '%s with role editor exits 0 when the operator and an agent have finished',
      async (argv, shows) => {
        const ran = await multinic(shells.editor, ...argv.split(' '));
        expect(ran).toMatchObject({ status: 0 });
        expect(ran.out).toMatch(shows);
      },
    );

    it('sync with role reader is refused, and prints the command that grants the right', async () => {
      const ran = await multinic(shells.reader, 'sync', 'e2e');
      expect(ran).toMatchObject({ status: 1, out: '' });
      expect(ran.err).toMatch(
        /Next: ask an administrator .*: kubectl -n \S+ create rolebinding .*multinic-edit.*cli-reader/,
      );
    });

    it('status names the Pod, the image and the reason when no operator starts, on one screen', async () => {
      const { management, parts } = world();
      const deployment = [
        '-n',
        namespaces.management,
        'deployment/multinic-operator-controller-manager',
      ];
      const patch = async (value: string) => {
        const path = '/spec/template/spec/containers/0/image';
        const text = JSON.stringify([{ op: 'replace', path, value }]);
        await management.kubectl(['patch', ...deployment, '--type=json', '-p', text]);
      };
      const path = 'jsonpath={.spec.template.spec.containers[0].image}';
      const image = await management.kubectl(['get', ...deployment, '-o', path]);
      await parts.kill('operator');
      // The kubelet's pull ends at once: nothing listens there.
      await patch('127.0.0.1:1/multinic:missing');
      await management.kubectl(['scale', ...deployment, '--replicas=1']);
      try {
        await vi.waitFor(async () => {
          const { status, out } = await multinic(shells.reader, 'status');
          expect(out).toMatch(
            /Pod multinic-operator-controller-manager-\S+ does not start: (ErrImagePull|ImagePullBackOff), image 127\.0\.0\.1:1\/multinic:missing/,
          );
          expect(status).toBe(5);
          expect(out.split('\n').length).toBeLessThanOrEqual(24);
        }, generous);
      } finally {
        await patch(image);
        await parts.restart('operator');
      }
    });
  });
}

/** Returns a kubeconfig with a different user name: in a merged kubeconfig the first user with a name wins. */
async function withOwnUser(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  const { users, contexts, ...file } = kubeconfig.parse(parse(text));
  const name = 'business-user';
  return JSON.stringify({
    ...file,
    users: users.map((user) => ({ ...user, name })),
    contexts: contexts.map((each) => ({ ...each, context: { ...each.context, user: name } })),
  });
}

const kubeconfig = z.looseObject({
  users: z.array(z.looseObject({ name: z.string() })),
  contexts: z.array(z.looseObject({ context: z.looseObject({ user: z.string() }) })),
});

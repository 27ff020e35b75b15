import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import type { Ran } from '../../fixtures/cli/real-kubectl.ts';
import { CliSite, home } from './cli-site.ts';
import { openstackConfigs } from './deployed.ts';

let site: CliSite;
const [, , config] = openstackConfigs;
const shownConfig = 'multinic-system/generation-3';

/** Returns printed commands that grant rights. */
function grantsIn(text: string): string[] {
  const commands = [...text.matchAll(/ to run: (kubectl (?:.* )?create .*)$/gm)];
  return [...new Set(commands.map(([, command = '']) => command))];
}

function status(kubeconfig: string, ...argv: readonly string[]): Promise<Ran> {
  return site.multinic(kubeconfig, 'status', '--lang', 'en', ...argv);
}

/** kubectl multinic with the real kubectl before a real API server. */
export function cliTests(plane: () => ControlPlane): void {
  describe('kubectl multinic with the real kubectl', () => {
    beforeAll(async () => {
      site = await CliSite.open(plane(), config ?? {});
      await site.setLease(new Date());
    });

    afterAll(() => site?.[Symbol.asyncDispose]());

    it.each(['jane', "o'neil of team a"])(
      'the CLI prints commands that give user %j every missing right',
      async (user) => {
        const kubeconfig = await site.plane.userKubeconfig(user);
        const before = await status(kubeconfig);
        expect(before.status).toBe(1);
        expect(before.out).not.toContain(shownConfig);
        const grants = grantsIn(before.out);
        expect(grants).toHaveLength(2);
        for (const line of grants)
          expect(await site.asAdministrator(line)).toMatchObject({ status: 0 });
        const after = await status(kubeconfig);
        expect(after.out).toContain(shownConfig);
        expect(after.out).not.toContain('(403)');
      },
    );

    it('the CLI shows objects readable with role view, and a skipped line for the missing Role', async () => {
      const kubeconfig = await userWithView('viewer');
      const { out } = await status(kubeconfig);
      expect(out).toContain(shownConfig);
      expect(out.match(/^incomplete: .*$/gm)).toEqual([
        expect.stringMatching(/^incomplete: management cluster \(.*\): no access \(403\)$/),
      ]);
      expect(grantsIn(out)).toHaveLength(1);
    });

    it('the CLI merges the files in KUBECONFIG=a:b as kubectl does', async () => {
      const { cluster, user } = await site.partsOf('viewer');
      const contexts = [{ name: 'merged', context: { cluster: 'c', user: 'u' } }];
      const a = await site.kubeconfig('a', { clusters: [{ name: 'c', cluster }], contexts });
      const b = await site.kubeconfig('b', { users: [{ name: 'u', user }] });
      const { out } = await status([a, b].join(delimiter), '--context', 'merged');
      expect(out).toContain(shownConfig);
    });

    it('the CLI uses the exec plugin in a kubeconfig', async () => {
      const { cluster, user } = await site.partsOf('viewer');
      const certificate = {
        clientCertificateData: decoded(user['client-certificate-data']),
        clientKeyData: decoded(user['client-key-data']),
      };
      const apiVersion = 'client.authentication.k8s.io/v1';
      const credential = { apiVersion, kind: 'ExecCredential', status: certificate };
      await writeFile(join(site.folder, 'credential.json'), JSON.stringify(credential));
      const plugin = join(site.folder, 'plugin');
      await writeFile(plugin, '#!/bin/sh\nexec cat "$(dirname "$0")/credential.json"\n');
      await chmod(plugin, 0o700);
      const exec = { apiVersion, command: plugin, interactiveMode: 'Never' };
      const kubeconfig = await site.kubeconfig('exec', {
        ...contextOf(cluster),
        users: [{ name: 'u', user: { exec } }],
      });
      const { out } = await status(kubeconfig);
      expect(out).toContain(shownConfig);
    });

    describe('with bad access', () => {
      const failures: readonly {
        readonly what: string;
        readonly kubeconfig: () => Promise<string>;
        readonly argv?: readonly string[];
        readonly says: RegExp;
      }[] = [
        {
          what: 'no kubeconfig',
          kubeconfig: () => Promise.resolve(join(site.folder, 'absent')),
          says: /the kubeconfig .*absent does not exist\nNext: .*--kubeconfig/,
        },
        {
          what: 'a context that does not exist',
          kubeconfig: () => Promise.resolve(site.plane.kubeconfig),
          argv: ['--context', 'nope'],
          says: /context "nope" does not exist\nNext: .*get-contexts/,
        },
        {
          what: 'a token that is no longer valid',
          kubeconfig: () => kubeconfigWithOldToken(),
          says: /\(401\)\nNext: log in to the cluster again/,
        },
        {
          what: 'no operator',
          kubeconfig: async () => {
            await site.setLease(undefined);
            return site.plane.kubeconfig;
          },
          says: /no operator: no Deployment .* and no Lease multinic-operator in namespace .*\nNext: .*--operator-namespace/,
        },
        {
          what: 'no leader',
          kubeconfig: async () => {
            await site.setLease(new Date(Date.now() - 600_000));
            return site.plane.kubeconfig;
          },
          says: /no leader: .*\nNext: kubectl -n multinic-operator-system get pods/,
        },
        {
          what: 'a leader outside the cluster',
          kubeconfig: async () => {
            await site.setLease(new Date());
            return site.plane.kubeconfig;
          },
          says: /a process outside the cluster: .* multinic-operator-0 holds the Lease\nNext: .*--inventory/,
        },
      ];

      it.each(failures)(
        'nodes ends with 1, the cause and the next step: $what',
        async (failure) => {
          const { kubeconfig, argv = [], says } = failure;
          const ran = await site.multinic(await kubeconfig(), 'nodes', '--lang', 'en', ...argv);
          expect(ran).toMatchObject({ status: 1, out: '' });
          expect(ran.err).toMatch(says);
        },
      );
    });
  });
}

const decoded = (base64 = '') => Buffer.from(base64, 'base64').toString();

function contextOf(cluster: object) {
  return {
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
}

/** Returns the kubeconfig of a user with Kubernetes' role `view`. */
async function userWithView(user: string): Promise<string> {
  const binding = ['create', 'clusterrolebinding', user, '--clusterrole=view', `--user=${user}`];
  await site.plane.kubectl(binding);
  return site.plane.userKubeconfig(user);
}

/** Token of a deleted ServiceAccount: the API server refuses it like an expired token. */
async function kubeconfigWithOldToken(): Promise<string> {
  const account = ['serviceaccount', 'former', '-n', home];
  await site.plane.kubectl(['create', ...account]);
  const token = await site.plane.kubectl(['create', 'token', 'former', '-n', home]);
  await site.plane.kubectl(['delete', ...account]);
  const { cluster } = await site.partsOf('viewer');
  const users = [{ name: 'u', user: { token: token.trim() } }];
  return site.kubeconfig('old-token', { ...contextOf(cluster), users });
}

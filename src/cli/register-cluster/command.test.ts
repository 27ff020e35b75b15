import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ApiServer, startApiServer } from '../../../rig/apiserver/server.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import { annotations, labels } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import {
  deployments,
  namespaces,
  roleBindings,
  roles,
  secrets,
} from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import { systemClock } from '../../time/clock.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { cliMain } from '../main-cli.ts';
import { registrationOf } from './command.ts';
import { namedClient } from './named-client.ts';
import { register } from './register.ts';
import { screenOf } from './screen.ts';

const server = 'https://10.0.0.1:6443';
const ref = { namespace: 'multinic-clusters', name: 'biz-1' };
const registration = {
  provider: 'biz-1',
  namespace: 'multinic-system',
  serviceAccount: 'viola',
  registrationsNamespace: ref.namespace,
  server,
  ca: undefined,
  tlsServerName: undefined,
};
let api: ApiServer;
let client: KubeClient;
let folder = '';
let path = '';
let printed: string[] = [];

beforeEach(async () => {
  api = await startApiServer({ crds: Object.values(crdDefinitions()) });
  client = createKubeClient(api.access, { clock: systemClock });
  for (const name of ['multinic-system', ref.namespace]) {
    await client.create(namespaces, { metadata: { name } });
  }
  const viola = { [labels.component]: 'viola' };
  await client.create(deployments, {
    metadata: { name: 'viola-api', namespace: 'multinic-system', labels: viola },
  });
  folder = await mkdtemp(join(tmpdir(), 'register-'));
  path = join(folder, 'config');
  await writeFile(path, await api.kubeconfig());
  printed = [];
  const print = (...words: unknown[]) => void printed.push(words.join(' '));
  vi.spyOn(console, 'log').mockImplementation(print);
  vi.spyOn(console, 'error').mockImplementation(print);
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await client[Symbol.asyncDispose]();
  await api.close();
  await rm(folder, { recursive: true });
});

/** Runs the command with one cluster in both roles; returns the exit status. */
async function run(...argv: readonly string[]): Promise<number> {
  const both = ['--business-kubeconfig', path, '--management-kubeconfig', path, '--server', server];
  return cliMain('register-cluster', ['biz-1', ...both, ...argv]);
}

function stored() {
  const kinds = ['serviceaccounts', 'roles.rbac.authorization.k8s.io', 'secrets'];
  const both = [registration.namespace, ref.namespace];
  return kinds.flatMap((kind) => both.flatMap((namespace) => api.objects(kind, namespace)));
}

describe('multinic register-cluster', () => {
  it('register-cluster --dry-run creates nothing and requests no token', async () => {
    const before = stored();
    expect(await run('--dry-run')).toBe(0);
    expect(stored()).toEqual(before);
    expect(api.audit.filter(({ subresource }) => subresource === 'token')).toEqual([]);
    expect(printed.join('\n')).toContain('Nothing was changed (--dry-run)');
  });

  it('register-cluster -o json prints one report on standard output', async () => {
    const out = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    expect(await run('--dry-run', '-o', 'json')).toBe(0);
    expect(out.mock.calls).toHaveLength(1);
    expect(JSON.parse(String(out.mock.calls[0]))).toMatchObject({
      apiVersion: 'report.multinic.io/v1',
      kind: 'ClusterRegistration',
      items: [{ providerId: 'biz-1', namespace: 'multinic-system', server, registered: false }],
    });
    expect(printed.join('\n')).toContain('ServiceAccount viola');
  });

  it.each([
    [
      ['--business-context', 'absent'],
      '--business-kubeconfig, or a context of the file with --business-context',
    ],
    [
      ['--management-context', 'absent'],
      '--management-kubeconfig, or a context of the file with --management-context',
    ],
  ])('register-cluster %o names the option when the context does not exist', async (argv, text) => {
    expect(await run('--dry-run', ...argv)).toBe(2);
    expect(printed.join('\n')).toContain('kubeconfig has no context absent');
    expect(printed.join('\n')).toContain(text);
  });

  it('register-cluster without --yes changes nothing without a terminal', async () => {
    const before = stored();
    expect(await run()).toBe(3);
    expect(stored()).toEqual(before);
    expect(printed.join('\n')).toContain('give --yes');
  });

  it('register-cluster prints no kubeconfig credential when a request fails', async () => {
    api.faults.answer({ resource: 'secrets', status: 401, reason: 'Unauthorized', times: 9 });
    expect(await run('--yes')).toBe(1);
    expect(printed.join('\n')).toContain('(401)\nNext: log in to the cluster again');
    expect(printed.join('\n')).not.toContain(await api.access.token());
  });

  it.each([
    ['--token-lifetime', '9m'],
    ['--token-lifetime', '87601h'],
    ['--token-lifetime', 'long'],
    ['--server', 'biz'],
    ['--server', 'http://10.0.0.1'],
    ['--server', 'https://[::1]:6443'],
    ['--namespace', 'absent'],
    ['--registrations-namespace', 'absent'],
  ])(
    'register-cluster refuses %s %s before any write, and prints the next step',
    async (...wrong) => {
      expect(await run('--yes', ...wrong)).toBe(3);
      expect(printed.join('\n')).toContain('Next: ');
      expect(api.audit.filter(({ verb }) => !['get', 'list'].includes(verb))).toHaveLength(3);
    },
  );

  it.each([
    [['--help'], 0],
    [['--nothing-of-ours'], 2],
    [['biz-1', '--kubeconfig', '/nowhere/at/all'], 2],
  ])('register-cluster with %o exits with status %i', async (argv, status) => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(await cliMain('register-cluster', argv)).toBe(status);
  });

  it.each([
    ['https://api.biz:6443', server, undefined, 'api.biz'],
    ['https://api.biz:6443', undefined, undefined, undefined],
    ['https://10.0.0.9:6443', server, undefined, undefined],
    ['https://[fd00::9]:6443', server, undefined, undefined],
    ['https://10.0.0.9:6443', server, 'kubernetes', 'kubernetes'],
  ])(
    'the registration for a cluster at %s sets tls-server-name when Viola connects to %s',
    (reached, chosen, tlsServerName, expected) => {
      const access = { server: reached, ...(tlsServerName === undefined ? {} : { tlsServerName }) };
      const options = { ...registration, ...(chosen === undefined ? {} : { server: chosen }) };
      const { server: _, ...without } = options;
      const made = registrationOf('biz-1', chosen === undefined ? without : options, access);
      expect([made.server, made.tlsServerName]).toEqual([chosen ?? reached, expected]);
    },
  );

  it.each([
    ['a silent', { cause: new DeadlineReached(30_000) }, 'no answer within 30 s'],
    ['an unreachable', {}, 'connect ECONNREFUSED'],
  ])('register-cluster names %s cluster and only options that it has', async (...row) => {
    const [, cause, why] = row;
    const details = { status: 0, reason: 'Unreachable', message: 'GET /api: connect ECONNREFUSED' };
    const find = () => Promise.reject(new KubeError({ ...details, ...cause }));
    const named = namedClient({ ...client, find }, { name: 'business', server });
    const asked = named.find(namespaces, { name: 'x' });
    await expect(asked).rejects.toMatchObject({
      message: `the business cluster (${server}) does not answer: ${why}`,
      next: `check the connection to ${server}`,
    });
  });

  it('register-cluster refuses a list of kubeconfigs', async () => {
    vi.stubEnv('KUBECONFIG', [path, path].join(delimiter));
    expect(await cliMain('register-cluster', ['biz-1', '--business-kubeconfig', path])).toBe(2);
    expect(printed.join('\n')).toContain('--management-kubeconfig');
  });

  it.each([
    ['the new name', () => ['--business-kubeconfig', path], 0, /^(?!.*Warning)/s],
    ['PROVIDER=FILE', () => ['--business-kubeconfig', `biz-1=${path}`], 0, /^(?!.*Warning)/s],
    ['the former name', () => ['--kubeconfig', path], 0, /Warning: .*--business-kubeconfig/],
    [
      'another provider',
      () => ['--business-kubeconfig', `biz-2=${path}`],
      2,
      /is for provider biz-2/,
    ],
    [
      'both names',
      () => ['--kubeconfig', path, '--business-kubeconfig', path],
      2,
      /--business-kubeconfig and --kubeconfig both/,
    ],
    ['no name', () => [], 2, /--business-kubeconfig is missing/],
    [
      'an unknown context',
      () => ['--business-kubeconfig', path, '--business-context', 'biz-1=nope'],
      2,
      /no context nope/,
    ],
  ] as const)('register-cluster with %s names the business cluster', async (...row) => {
    const [, flags, status, text] = row;
    const argv = ['biz-1', ...flags(), '--management-kubeconfig', path, '--server', server];
    expect(await cliMain('register-cluster', [...argv, '--dry-run'])).toBe(status);
    expect(printed.join('\n')).toMatch(text);
  });

  it('register-cluster accepts a single file with a list separator in its name', async () => {
    const odd = join(folder, `a${delimiter}b`);
    await writeFile(odd, await api.kubeconfig());
    expect(await run('--business-kubeconfig', odd, '--dry-run'), printed.join('\n')).toBe(0);
  });

  it("register-cluster reads the home folder's kubeconfig when KUBECONFIG is empty", async () => {
    vi.stubEnv('KUBECONFIG', '');
    vi.stubEnv('HOME', folder);
    expect(await cliMain('register-cluster', ['biz-1', '--business-kubeconfig', path])).toBe(2);
    expect(printed.join('\n')).toContain(join(folder, '.kube', 'config'));
  });
});

const clusters = () => ({ business: client, management: client });

describe('register', () => {
  const options = {
    tokenSeconds: 3_600,
    connect: (token: string) =>
      createKubeClient({ server: api.url, token: async () => token }, { clock: systemClock }),
  };
  const writes = [
    ['patch', 'serviceaccounts'],
    ['patch', 'roles.rbac.authorization.k8s.io'],
    ['patch', 'rolebindings.rbac.authorization.k8s.io'],
    ['create', 'serviceaccounts'],
    ['patch', 'secrets'],
  ] as const;

  it.each(writes)('register continues after a failed %s of %s', async (verb, resource) => {
    const forbidden = { status: 403, reason: 'Forbidden' };
    api.faults.answer({ verb, resource, ...forbidden });
    await expect(register(clusters(), registration, options)).rejects.toThrow();
    expect(await client.find(secrets, ref)).toBeUndefined();
    await register(clusters(), registration, options);
    const { metadata } = await client.get(secrets, ref);
    expect(metadata.annotations).toMatchObject({ [annotations.renewsTokenOf]: 'viola' });
  });

  it('register succeeds, and reports it, when the user may create no Role in kube-system', async () => {
    const name = 'multinic-viola';
    api.faults.answer({ verb: 'patch', name, status: 403, reason: 'Forbidden' });
    const screen = screenOf({ output: 'table', lang: 'en', tokenLifetime: '1h' });
    screen.result(registration, await register(clusters(), registration, options));
    expect(await client.find(roles, { namespace: 'kube-system', name })).toBeUndefined();
    expect(printed.join('\n')).toContain('may not create Roles in namespace kube-system');
    expect(await register(clusters(), registration, options)).toMatchObject({ isIdentified: true });
    const { rules } = await client.get(roles, { namespace: 'kube-system', name });
    expect(rules).toMatchObject([{ resourceNames: ['kube-system'], verbs: ['get'] }]);
    const { subjects } = await client.get(roleBindings, { namespace: 'kube-system', name });
    expect(subjects).toMatchObject([{ name: 'viola', namespace: 'multinic-system' }]);
  });

  it('register keeps the existing registration when the new token fails', async () => {
    await register(clusters(), registration, options);
    const before = await client.get(secrets, ref);
    api.faults.answer({ resource: 'multinicnodeconfigs.multinic.io', status: 401, times: 9 });
    await expect(register(clusters(), registration, options)).rejects.toThrow();
    expect(await client.get(secrets, ref)).toEqual(before);
  });
});

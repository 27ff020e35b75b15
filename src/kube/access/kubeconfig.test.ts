import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { inCluster } from './in-cluster.ts';
import { loadKubeconfig } from './kubeconfig.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function config(cluster: object, user: object | null) {
  return {
    'current-context': 'here',
    clusters: [
      { name: 'one', cluster: { server: 'https://10.0.0.1:6443', ...cluster } },
      { name: 'two', cluster: { server: 'https://10.0.0.2:6443' } },
    ],
    users: [{ name: 'me', user }],
    contexts: [
      { name: 'here', context: { cluster: 'one', user: 'me', namespace: 'mine' } },
      { name: 'there', context: { cluster: 'two', user: 'me' } },
    ],
  };
}

describe('kubeconfig', () => {
  test('loadKubeconfig returns server, CA, namespace and token from the current context', async () => {
    const access = await loadKubeconfig(
      stringify(config({ 'certificate-authority-data': base64('CA') }, { token: 't0ken' })),
    );
    expect(access).toMatchObject({ server: 'https://10.0.0.1:6443', ca: 'CA', namespace: 'mine' });
    expect(await access.token?.()).toBe('t0ken');
  });

  test('loadKubeconfig accepts base64 with line breaks, as base64(1) writes', async () => {
    const wrapped = base64('CA'.repeat(60)).replace(/.{76}/g, '$&\n');
    const access = await loadKubeconfig(
      stringify(config({ 'certificate-authority-data': wrapped }, null)),
    );
    expect(access.ca).toBe('CA'.repeat(60));
  });

  test('loadKubeconfig returns the requested context', async () => {
    const access = await loadKubeconfig(stringify(config({}, null)), { context: 'there' });
    expect(access).toEqual({ server: 'https://10.0.0.2:6443' });
  });

  test('loadKubeconfig accepts JSON on one line', async () => {
    const access = await loadKubeconfig(JSON.stringify(config({}, null)));
    expect(access.server).toBe('https://10.0.0.1:6443');
  });

  test('loadKubeconfig returns a client certificate from inline data', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') };
    const access = await loadKubeconfig(stringify(config({ 'tls-server-name': 'api' }, user)));
    expect(access).toMatchObject({ clientCert: 'CERT', clientKey: 'KEY', tlsServerName: 'api' });
  });

  test('a kubeconfig file may name relative files; inline data win', async () => {
    for (const name of ['ca', 'cert', 'key'])
      await writeFile(join(folder, name), name.toUpperCase());
    const user = {
      'client-certificate': 'cert',
      'client-key': join(folder, 'key'),
      'client-key-data': base64('DATA'),
    };
    const path = join(folder, 'config');
    await writeFile(path, stringify(config({ 'certificate-authority': 'ca' }, user)));
    const access = await loadKubeconfig(path);
    expect(access).toMatchObject({ ca: 'CA', clientCert: 'CERT', clientKey: 'DATA' });
  });

  test('loadKubeconfig rereads the token file each time', async () => {
    const path = join(folder, 'config');
    await writeFile(path, stringify(config({}, { tokenFile: 'token', token: 'old' })));
    await writeFile(join(folder, 'token'), 'first\n');
    const { token } = await loadKubeconfig(path);
    expect(await token?.()).toBe('first');
    await writeFile(join(folder, 'token'), 'second\n');
    expect(await token?.()).toBe('second');
  });

  test.each([
    ['a CA', { 'certificate-authority': '/etc/passwd' }, null],
    ['a key', {}, { 'client-key': '/etc/passwd', 'client-certificate-data': base64('C') }],
    ['a token', {}, { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }],
  ])('a kubeconfig given as text may not name a file for %s', async (_, cluster, user) => {
    const loading = loadKubeconfig(stringify(config(cluster, user)));
    await expect(loading).rejects.toThrow(/in a Secret or variable must contain the data/);
  });

  test.each([
    ['exec', {}, { exec: { command: 'aws' } }],
    ['auth-provider', {}, { 'auth-provider': { name: 'oidc' } }],
    ['username', {}, { username: 'me', password: 'p' }],
    ['as', {}, { as: 'root' }],
    ['proxy-url', { 'proxy-url': 'http://proxy' }, null],
    ['insecure-skip-tls-verify', { 'insecure-skip-tls-verify': true }, null],
  ])(
    'a kubeconfig with %s is refused, and the message names the key',
    async (key, cluster, user) => {
      const loading = loadKubeconfig(stringify(config(cluster, user)));
      await expect(loading).rejects.toThrow(new RegExp(`is not supported: .*${key}`, 's'));
    },
  );

  test('unsupported entries for other contexts are accepted, but refused when chosen', async () => {
    const base = config({}, { token: 't0ken' });
    const extended = {
      clusters: [
        ...base.clusters,
        { name: 'lab', cluster: { server: 'https://lab', 'insecure-skip-tls-verify': true } },
      ],
      users: [...base.users, { name: 'cloud', user: { exec: { command: 'aws' } } }],
      contexts: [...base.contexts, { name: 'eks', context: { cluster: 'lab', user: 'cloud' } }],
    };
    const text = stringify({ ...base, ...extended });
    expect(await (await loadKubeconfig(text)).token?.()).toBe('t0ken');
    const other = loadKubeconfig(text, { context: 'eks' });
    await expect(other).rejects.toThrow(/cluster lab, cannot be used.*insecure-skip-tls-verify/s);
  });

  test('a kubeconfig with null users reports the missing user', async () => {
    const loading = loadKubeconfig(stringify({ ...config({}, null), users: null }));
    await expect(loading).rejects.toThrow(/no user me \(existing: none\)/);
  });

  test.each([
    [
      'an unknown context',
      { 'current-context': 'nowhere' },
      /no context nowhere \(existing: here, there\)/,
    ],
    ['no current context', { 'current-context': undefined }, /no current-context/],
    ['an unknown cluster', { clusters: [] }, /no cluster one \(existing: none\)/],
    ['an unknown user', { users: [] }, /no user me/],
    ['no clusters at all', { clusters: undefined }, /clusters/],
  ])('a kubeconfig with %s is refused with the missing name', async (_, change, message) => {
    const loading = loadKubeconfig(JSON.stringify({ ...config({}, null), ...change }));
    await expect(loading).rejects.toThrow(message);
  });

  test('a kubeconfig with half a client certificate is refused', async () => {
    const loading = loadKubeconfig(stringify(config({}, { 'client-key-data': base64('K') })));
    await expect(loading).rejects.toThrow(/belong together/);
  });

  test('a broken kubeconfig is reported without its text', async () => {
    const loading = loadKubeconfig('users: "s3cret\n: s3cret');
    await expect(loading).rejects.toThrow(/kubeconfig is not YAML/);
    await expect(loading).rejects.not.toThrow(/s3cret/);
  });
});

describe('inCluster', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

  test('inCluster reads the ServiceAccount, and the token at each request', async () => {
    await writeFile(join(folder, 'ca.crt'), 'CA');
    await writeFile(join(folder, 'namespace'), 'multinic\n');
    await writeFile(join(folder, 'token'), 'first');
    const access = await inCluster({ env, folder });
    expect(access).toMatchObject({
      server: 'https://10.96.0.1:443',
      ca: 'CA',
      namespace: 'multinic',
    });
    await writeFile(join(folder, 'token'), 'second\n');
    expect(await access.token?.()).toBe('second');
  });

  test('inCluster rereads the CA, because the cluster may rotate it', async () => {
    for (const name of ['ca.crt', 'namespace']) await writeFile(join(folder, name), 'old');
    const access = await inCluster({ env, folder });
    await writeFile(join(folder, 'ca.crt'), 'new');
    expect(await access.certificates?.()).toEqual({ ca: 'new' });
  });

  test('inCluster writes an IPv6 host in brackets', async () => {
    for (const name of ['ca.crt', 'namespace']) await writeFile(join(folder, name), 'x');
    const access = await inCluster({ env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder });
    expect(access.server).toBe('https://[fd00::1]:443');
  });

  test('inCluster outside a Pod rejects with advice', async () => {
    await expect(inCluster({ env: {}, folder })).rejects.toThrow(
      /no API server configured: .* outside a Pod/,
    );
  });
});

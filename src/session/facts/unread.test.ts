import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import {
  grantConfigMap,
  grantCrds,
  grantEdit,
  grantNodes,
  grantOnlyNodes,
  grantPods,
  grantView,
} from '../access/grants.ts';
import { Session } from '../access/session.ts';
import { factOf } from './unread.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/multinic-system/leases/multinic-operator';
const ofProxy = (text: string) =>
  new KubeError({ status: 500, reason: 'Http500', message: `GET ${path}: ${text} (500 Http500)` });
const refused = (status: number, message = '') =>
  new KubeError({
    status,
    reason: 'Refused',
    message: `GET ${path}: ${message} (${status} Refused)`,
  });
const mayNot = 'User "jane" cannot patch resource "openstackconfigs" in the namespace "team-a"';

/** Writes a kubeconfig in which two clusters use the user admin; returns its path. */
async function mergedKubeconfig(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unread-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'kubeconfig');
  const contexts = ['a', 'b'].map((name) => ({ name, context: { cluster: name, user: 'admin' } }));
  await writeFile(file, JSON.stringify({ contexts, users: [{ name: 'admin', user: {} }] }));
  return file;
}

const about = {
  what: { en: 'x', ko: 'x' },
  source: 'management cluster',
  grant: grantEdit,
} as const;

it.each([
  [
    'no kubeconfig at the path',
    ofProxy('dial tcp 127.0.0.1:8080: connect: connection refused'),
    'the kubeconfig /nope does not exist',
    'give --kubeconfig PATH',
  ],
  [
    'a refused connection',
    ofProxy('dial tcp 10.0.0.1:6443: connect: connection refused'),
    'the API server does not answer: dial tcp 10.0.0.1:6443: connect: connection refused',
    'check that the API server is reachable',
  ],
  [
    'a failing exec plugin',
    ofProxy('getting credentials: exec: executable aws failed with exit code 1'),
    'the credentials cannot be read: getting credentials: exec: executable aws failed with exit code 1',
    'log in to the cluster again',
  ],
  ['a 401', refused(401), 'the credentials are not accepted (401)', 'log in to the cluster again'],
  [
    'a 403',
    refused(403, mayNot),
    'no access (403)',
    'ask an administrator of the cluster to run: kubectl -n team-a create rolebinding multinic-edit-jane --clusterrole=multinic-edit --user=jane',
  ],
  [
    'a 403 for a user with a backslash',
    refused(403, mayNot.replace('"jane"', String.raw`"CORP\\jane"`)),
    'no access (403)',
    String.raw`--user='CORP\jane'`,
  ],
  [
    'garbage',
    new KubeError({
      status: 0,
      reason: 'InvalidAnswer',
      message: `GET ${path}: answer is not JSON`,
    }),
    'the answer is not that of a Kubernetes API server: answer is not JSON',
    'check that the API server is reachable',
  ],
] as const)('a fact after %s has one plain cause and the next step', async (...row) => {
  const [, error, why, next] = row;
  const options = { kubeconfig: '/nope', businessContext: new Map() };
  await using session = new Session(options, new AbortController().signal);
  const fact = await factOf(session, about, () => Promise.reject(error));
  expect(fact).toMatchObject({ why: { en: why }, required: { place: '/nope' } });
  if (fact.state === 'read') throw new Error('the fact was read');
  expect(fact.next.en).toContain(next);
});

it('a 401 names equal user names in a merged kubeconfig as a cause', async () => {
  const options = { kubeconfig: await mergedKubeconfig(), businessContext: new Map() };
  await using session = new Session(options, new AbortController().signal);
  const fact = await factOf(session, about, () => Promise.reject(refused(401)));
  expect(fact).toMatchObject({
    next: {
      en: expect.stringMatching(/user named admin .*--business-kubeconfig PROVIDER=FILE/) as string,
    },
  });
});

it.each([
  ['team-a', 'kubectl -n team-a create rolebinding'],
  [undefined, 'kubectl create clusterrolebinding'],
])('the right to read OpenstackConfigs in namespace %s is: %s', (namespace, command) => {
  expect(grantView(namespace)('jane', undefined)).toMatch(command);
});

it.each([
  ['Nodes', grantNodes('')],
  ['Nodes only', grantOnlyNodes('')],
  ['CRDs', grantCrds('')],
  ['Pods', grantPods('', 'multinic-system')],
  ['a ConfigMap', grantConfigMap('', () => 'kubeadm-config')],
] as const)('the rights of two users to read %s share no object', (_, grant) => {
  const namesOf = (user: string) =>
    [...grant(user, undefined).matchAll(/(?:role|rolebinding|binding) (\S+)/g)].map(
      ([, name]) => name,
    );
  expect(namesOf('jane')).toHaveLength(2);
  expect(namesOf('jane').filter((name) => namesOf('joe').includes(name))).toEqual([]);
});

import { Agent, fetch } from 'undici';
import { settingsOfParts } from '../../../deploy/settings-of-parts.ts';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { openPortForward } from '../../../rig/control-plane/port-forward.ts';
import type { Settings } from '../../../src/process/settings.ts';
import { good, violaCa } from '../../fixtures/certificates.ts';
import { type Sample, samplesOf, textOf } from '../../packaging/charts/setting-samples.ts';
import { type Clusters, namespaces } from './installation.ts';
import type { PartName } from './pods.ts';

const secretName = 'samples';
const folder = `/etc/${secretName}`;

/** What settings name that has to be there when a part starts. */
const files: Readonly<Record<string, string>> = {
  'ca.crt': violaCa,
  'tls.crt': good.cert,
  'tls.key': good.key,
  'tokens.yaml': '[]',
  token: 'a-token-of-nobody',
  keys: 'a-key-of-nobody-at-all',
};

const fileOf: Readonly<Record<string, string>> = {
  contrabassCaFile: 'ca.crt',
  dbCaFile: 'ca.crt',
  openstackCaFile: 'ca.crt',
  violaCaFile: 'ca.crt',
  violaTokenFile: 'token',
  apiTokensFile: 'tokens.yaml',
  apiTlsCert: 'tls.crt',
  apiTlsKey: 'tls.key',
  triggerHmacKeyFile: 'keys',
  tlsCert: 'tls.crt',
  tlsKey: 'tls.key',
  tokenFile: 'tokens.yaml',
  kubeconfig: 'kubeconfig',
};

/** The operator makes its access to Viola itself, or is given it: these exclude each other. */
export const ways = ['managed', 'given'] as const;
export type Way = (typeof ways)[number];
const ofWay: Readonly<Record<Way, readonly string[]>> = {
  managed: ['violaAccess', 'violaTls'],
  given: ['violaTokenFile', 'violaCaFile'],
};

/** A value for every setting of a part, none of them its default. */
export function toldTo(part: PartName, way: Way): Sample[] {
  const others = ways.filter((one) => one !== way).flatMap((one) => ofWay[one]);
  return samplesOf(settingsOfParts[part])
    .filter(({ key }) => !others.includes(key))
    .map((sample) => {
      const file = fileOf[sample.key];
      return file === undefined
        ? sample
        : { ...sample, value: `${folder}/${file}`, read: `${folder}/${file}` };
    });
}

/** What /configz has to say of it. */
export function saidOf(part: PartName, way: Way): Readonly<Record<string, object>> {
  const settings: Settings = settingsOfParts[part];
  const told = new Map(toldTo(part, way).map((sample) => [sample.setting, sample]));
  const said = Object.entries(settings).flatMap<[string, object]>(([key, setting]) => {
    const sample = told.get(setting);
    if (!sample) return [];
    const value: unknown = setting.secret ? 'redacted' : JSON.parse(JSON.stringify(sample.read));
    return [[key, { value, from: setting.env[0] }]];
  });
  return Object.fromEntries(said);
}

const isSecret = ({ setting: { secret = false } }: Sample) => secret;

/** The same as values of its chart. */
export function valuesOf(part: PartName, way: Way): object {
  const told = toldTo(part, way);
  return {
    [part]: {
      settings: Object.fromEntries(
        told.filter((sample) => !isSecret(sample)).map(({ key, value }) => [key, value]),
      ),
      ...(told.some(isSecret) && {
        secretSettings: Object.fromEntries(
          told.filter(isSecret).map(({ key }) => [key, { name: secretName, key }]),
        ),
      }),
      extraVolumes: [{ name: secretName, secret: { secretName } }],
      extraVolumeMounts: [{ name: secretName, mountPath: folder, readOnly: true }],
      // Its data lies where the setting says.
      ...(part === 'operator' && { persistence: { enabled: false } }),
      ...(part === 'viola' && way === 'given' && givenAccess),
    },
  };
}

/** What the operator would make otherwise. */
const givenAccess = {
  tls: { mode: 'secret', secretName, ca: { secret: secretName } },
  tokens: { mode: 'secret', secretName, operatorToken: { secretName } },
};

/** Makes all that the values name: namespaces, and the Secret with files and secret settings. */
export async function prepareFor(cluster: ControlPlane, parts: readonly PartName[]): Promise<void> {
  const told = parts.flatMap((part) => ways.flatMap((way) => toldTo(part, way)));
  const named = told.filter(({ key }) => /namespaces?$/i.test(key)).flatMap(({ value }) => value);
  const home = parts.includes('controller') ? namespaces.business : namespaces.management;
  const objects = [...new Set([home, ...named.map(String)])].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace: home },
    stringData: {
      ...files,
      kubeconfig: inCluster,
      ...Object.fromEntries(
        told.filter(({ setting }) => setting.secret).map(({ key, value }) => [key, textOf(value)]),
      ),
    },
  };
  const list = { apiVersion: 'v1', kind: 'List', items: [...objects, secret] };
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(list));
}

const account = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a Pod has of itself, as a kubeconfig. */
const inCluster = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'pod',
  contexts: [{ name: 'pod', context: { cluster: 'here', user: 'account' } }],
  clusters: [
    {
      name: 'here',
      cluster: {
        server: 'https://kubernetes.default.svc',
        'certificate-authority': `${account}/ca.crt`,
      },
    },
  ],
  users: [{ name: 'account', user: { tokenFile: `${account}/token` } }],
});

const deployments: Readonly<Record<PartName, string>> = {
  operator: 'multinic-operator-controller-manager',
  viola: 'viola-api',
  controller: 'multinic-agent-controller',
};

/** What a part says at /configz, by way of `kubectl port-forward`. */
export async function configOf(
  { management, business }: Clusters,
  part: PartName,
): Promise<Readonly<Record<string, unknown>>> {
  const [cluster, namespace] =
    part === 'controller' ? [business, namespaces.business] : [management, namespaces.management];
  const port = portOf(part);
  await using forward = await openPortForward(
    cluster,
    namespace,
    `deployment/${deployments[part]}`,
    port,
  );
  const scheme = part === 'viola' ? 'https' : 'http';
  const dispatcher = new Agent({ connect: { ca: violaCa } });
  try {
    const answer = await fetch(`${scheme}://127.0.0.1:${forward.port}/configz`, { dispatcher });
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  } finally {
    await dispatcher.close();
  }
}

function portOf(part: PartName): number {
  const told = toldTo(part, 'given').find(({ key }) => key === 'listen');
  if (!told) throw new Error(`${part} has no setting listen`);
  return Number(textOf(told.value).slice(1));
}

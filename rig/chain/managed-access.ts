import { join } from 'node:path';
import { accessSecrets, namespaces } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource } from '../../src/kube/resource.ts';
import type { Clock } from '../../src/time/clock.ts';
import { followSecret } from '../kubelet/secret-volume.ts';
import { identities } from './identities.ts';

/** Where the operator runs, as far as its Secrets are concerned. */
export const accessNamespace = namespaces.system;

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true } as const;
type Loose = KubeObject & Readonly<Record<string, unknown>>;
const roles = defineResource<Loose>({ ...rbac, plural: 'roles', kind: 'Role' });
const bindings = defineResource<Loose>({
  ...rbac,
  plural: 'rolebindings',
  kind: 'RoleBinding',
});

/** The right to keep the Secrets of the access to Viola, and no other. */
export async function grantAccessKeeping(client: KubeClient): Promise<void> {
  const metadata = { namespace: accessNamespace, name: 'multinic-operator-viola-access' };
  const own = { fieldManager: 'kubectl' };
  const names = Object.values(accessSecrets);
  const verbs = ['get', 'create', 'patch'];
  const rule = { apiGroups: [''], resources: ['secrets'], resourceNames: names, verbs };
  await client.apply(roles, { metadata, rules: [rule] }, own);
  const subject = { apiGroup: rbac.group, kind: 'User', name: identities.operator };
  const roleRef = { apiGroup: rbac.group, kind: 'Role', name: metadata.name };
  await client.apply(bindings, { metadata, roleRef, subjects: [subject] }, own);
}

/** What the Pod of Viola has mounted of the Secrets that the operator keeps. */
export interface MountedAccess extends AsyncDisposable {
  /** Folder of token files. */
  readonly tokens: string;
  readonly certificate: string;
  readonly key: string;
  readonly authorities: string;
  /** Resolves when both Secrets are there, and a Pod could start. */
  readonly mounted: Promise<void>;
}

/** Mounts them as a kubelet does, from when they are there until it is disposed of. */
export function mountAccess(client: KubeClient, directory: string, clock: Clock): MountedAccess {
  const stop = new AbortController();
  const follow = (name: string) => {
    const path = join(directory, name);
    const mounted = Promise.withResolvers<void>();
    const secret = { namespace: accessNamespace, name };
    const volume = { client, secret, path, clock };
    const ended = followSecret(volume, mounted.resolve, stop.signal);
    return { path, ended, mounted: mounted.promise };
  };
  const tokens = follow(accessSecrets.grants);
  const tls = follow(accessSecrets.certificate);
  return {
    tokens: tokens.path,
    certificate: join(tls.path, 'tls.crt'),
    key: join(tls.path, 'tls.key'),
    authorities: join(tls.path, 'ca.crt'),
    mounted: Promise.all([tokens.mounted, tls.mounted]).then(() => undefined),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('unmounted'));
      await Promise.all([tokens.ended, tls.ended]);
    },
  };
}

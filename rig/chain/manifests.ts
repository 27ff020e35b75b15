import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource } from '../../src/kube/resource.ts';

/** The folder `deploy` of this version. */
export const deployFolder = join(import.meta.dirname, '../../deploy');

const plurals: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  CustomResourceDefinition: 'customresourcedefinitions',
};

/** Creates every object of manifests in `deploy/rbac`, as `kubectl apply --server-side -f` does. */
export async function createAll(client: KubeClient, ...names: readonly string[]): Promise<void> {
  const paths = names.map((name) => join(deployFolder, 'rbac', `${name}.yaml`));
  await applyFiles(client, paths);
}

/** Applies every object of these manifests, as `kubectl apply --server-side --force-conflicts -f` does. */
export async function applyFiles(client: KubeClient, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    for (const document of parseAllDocuments(await readFile(path, 'utf8'))) {
      await applyOne(client, document.toJS() as Manifest);
    }
  }
}

type Manifest = KubeObject & { readonly apiVersion: string; readonly kind: string };

async function applyOne(client: KubeClient, object: Manifest): Promise<void> {
  const [version = '', group = ''] = object.apiVersion.split('/').toReversed();
  const plural = plurals[object.kind];
  if (plural === undefined) throw new Error(`no plural of ${object.kind} is known`);
  const namespaced = object.metadata.namespace !== undefined;
  const resource = defineResource({ group, version, plural, kind: object.kind, namespaced });
  await client.apply(resource, object, { fieldManager: 'kubectl', force: true });
}

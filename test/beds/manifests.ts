import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource } from '../../src/kube/resource.ts';

const root = join(import.meta.dirname, '../..');

const plurals: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};

/** Creates every object of a manifest of this project, as `kubectl create -f` does. */
export async function createAll(client: KubeClient, path: string): Promise<void> {
  for (const document of parseAllDocuments(await readFile(join(root, path), 'utf8'))) {
    const object = document.toJS() as KubeObject & { apiVersion: string; kind: string };
    const [version = '', group = ''] = object.apiVersion.split('/').toReversed();
    const plural = plurals[object.kind];
    if (plural === undefined) throw new Error(`${path}: no plural of ${object.kind} is known`);
    const namespaced = object.metadata.namespace !== undefined;
    const resource = defineResource({ group, version, plural, kind: object.kind, namespaced });
    await client.create(resource, object);
  }
}

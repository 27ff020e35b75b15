import type { Cluster } from './cluster.ts';
import { type KubeObject, parseObject } from './objects/object.ts';
import { create } from './verbs/create.ts';

const manager = 'kube-apiserver';
const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Creates what every cluster has from the start, and the given definitions. */
export function bootstrap(cluster: Cluster, definitions: readonly object[]): void {
  for (const name of namespaces) {
    install(cluster, 'v1', 'namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
  for (const definition of definitions) {
    const object = readDefinition(definition);
    install(cluster, 'apiextensions.k8s.io/v1', 'customresourcedefinitions', object);
  }
  // Nobody can have seen a version from before the start.
  cluster.storage.compact();
}

function readDefinition(definition: object): KubeObject {
  const parsed = parseObject(definition);
  if ('object' in parsed) return parsed.object;
  throw new Error(`not a CustomResourceDefinition: ${parsed.problem}`);
}

function install(cluster: Cluster, apiVersion: string, plural: string, object: KubeObject): void {
  const type = cluster.types.find(apiVersion, plural);
  if (!type) throw new Error(`${plural} of ${apiVersion} is not served`);
  create(cluster, { type, namespace: undefined }, object, { manager });
}

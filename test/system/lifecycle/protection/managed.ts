import {
  claims,
  configMaps,
  cronJobs,
  deployments,
  disruptionBudgets,
  secrets,
  services,
  statefulSets,
} from '../../../../src/kube/core-resources.ts';
import {
  type Desired,
  desired,
  managedLabels,
  ownedBy,
} from '../../../../src/lifecycle/objects/desired.ts';
import type { Observed } from '../../../../src/lifecycle/stage.ts';

/** One object of each kind that lifecycle manages, under the names of an installation. */
export function managedObjects({ operator, namespace }: Observed): readonly Desired[] {
  const labels = managedLabels(operator);
  const own = (name: string) => ({ name, namespace, labels });
  const owned = (name: string) => ({ ...own(name), ownerReferences: [ownedBy(operator)] });
  const pod = (app: string, image: string) => ({
    metadata: { labels: { app, ...labels } },
    spec: { containers: [{ name: 'main', image }] },
  });
  return [
    desired(deployments, {
      metadata: owned('multinic-controller'),
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'multinic-controller' } },
        template: pod('multinic-controller', 'multinic:v1alpha1'),
      },
    }),
    desired(statefulSets, {
      metadata: owned('mariadb'),
      spec: {
        replicas: 1,
        serviceName: 'mariadb',
        selector: { matchLabels: { app: 'mariadb' } },
        template: pod('mariadb', 'mariadb:10.11'),
      },
    }),
    desired(services, {
      metadata: owned('mariadb'),
      spec: { ports: [{ name: 'mysql', port: 3306 }], selector: { app: 'mariadb' } },
    }),
    desired(secrets, {
      metadata: own('mariadb-credentials'),
      data: { password: Buffer.from('one').toString('base64') },
    }),
    desired(configMaps, {
      metadata: owned('multinic-operator-triggers'),
      data: { 'trigger.yaml': 'mode: immediate\n' },
    }),
    desired(claims, {
      metadata: own('mysql-storage-mariadb-0'),
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    desired(cronJobs, {
      metadata: owned('mariadb-backup'),
      spec: {
        schedule: '0 3 * * *',
        jobTemplate: {
          spec: {
            template: {
              spec: {
                restartPolicy: 'Never',
                containers: [{ name: 'main', image: 'mariadb:10.11' }],
              },
            },
          },
        },
      },
    }),
    desired(disruptionBudgets, {
      metadata: owned('multinic-controller'),
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'multinic-controller' } } },
    }),
  ];
}

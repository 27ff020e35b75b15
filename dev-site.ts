import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { openSite, deployed } from './test/integration/migrate/site.ts';
const site = await openSite('migdev', [{name:'worker-1'},{name:'worker-2'}]);
await writeFile('/tmp/w/mig-env', `export KUBECONFIG=${site.cluster.kubeconfig} SITE=${site.directory} HOSTS="${site.workers.map((w) => w.host.netns).join(' ')}" UUIDS="${site.workers.map((w) => w.systemUuid).join(' ')}"\n`);
if (process.argv[2] !== 'bare') {
await site.helm('upgrade', '--install', 'multinic-agent', join(deployed, 'multinic-agent'), '-n', 'multinic-system', '--create-namespace');
for (const w of site.workers) {
  const host = Number(w.name.replace(/\D/g, ''));
  const config = { apiVersion: 'multinic.io/v1alpha1', kind: 'MultiNicNodeConfig', metadata: { name: w.name, namespace: 'multinic-system', labels: { 'multinic.io/node-name': w.name, 'multinic.io/instance-id': w.systemUuid } },
    spec: { nodeName: w.name, instanceId: w.systemUuid, interfaces: w.macs.map((macAddress, id) => ({ id, name: `multinic${id}`, macAddress, address: `10.${id}.0.${10 + host}`, cidr: `10.${id}.0.0/16`, mtu: 1450 })) } };
  await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(config));
}
}
console.log('up');
await new Promise((r) => process.once('SIGTERM', r));
await site[Symbol.asyncDispose]();

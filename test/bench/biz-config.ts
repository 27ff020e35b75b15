// A MultiNicBizConfig of 1,000 nodes with 5 NICs: how long its expansion takes, what the controller keeps of memory, how often it
// writes the status, and the size of the object beside the limit of a real API server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { startApiServer } from '../../rig/apiserver/server.ts';
import { identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { controllerPart } from '../../rig/parts/parts.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { Supervisor } from '../../rig/parts/supervisor.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { namespaces } from '../../src/api/names.ts';
import { bizConfigsIn } from '../../src/biz-config/biz-config.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { systemClock as clock } from '../../src/time/clock.ts';
import { bizNode } from '../fixtures/biz-samples.ts';
import { cpuOf, Figures, rssOf } from './figures.ts';

const nodes = 1_000;
const nics = [1, 2, 3, 4, 5];
const goals = { seconds: 60, rssMb: 150, writesIn5s: 1, writesAtRest: 0 };
/** A real API server stores no larger object (etcd's --max-request-bytes). */
const limitMb = 1.5;
const windowMs = 5_000;
/** Until the last status is written, and then nothing more. */
const quietMs = 20_000;

await bundle(bundleFolder);
await using stack = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'multinic-biz-'));
stack.defer(() => rm(directory, { recursive: true }));
const api = await startApiServer({ crds: Object.values(crdDefinitions()), tls: true });
stack.defer(() => api.close());
const admin = stack.use(createKubeClient(api.access, { clock }));
await createAll(admin, 'namespaces', 'controller');
const kubeconfig = join(directory, 'kubeconfig');
await writeFile(kubeconfig, await api.kubeconfig(api.accessAs(identities.controller)));
const parts = stack.use(new Supervisor(directory, clock));
const [port = 0] = await freePorts(1);
await parts.start(controllerPart({ kubeconfig, port, agentImage: 'agent', clock }));

const statusWrites: number[] = [];
const objects = () => api.objects('multinicnodeconfigs.multinic.io').length;
let heard = api.audit.length;

/** Notes when statuses of the source were written, to some milliseconds. */
function hear(): void {
  const news = api.audit.slice(heard);
  heard = api.audit.length;
  for (const { verb, resource, subresource } of news) {
    const isStatus = resource === 'multinicbizconfigs' && subresource === 'status';
    if (verb === 'patch' && isStatus) statusWrites.push(performance.now());
  }
}

const resource = bizConfigsIn('multinic.io');
const ref = { namespace: namespaces.system, name: 'production' };
const nodeConfigs = Array.from({ length: nodes }, (_, n) => bizNode(n, nics));
const began = performance.now();
await admin.create(resource, { metadata: ref, spec: { providerId: 'p-1', nodeConfigs } });
while (objects() < nodes) {
  hear();
  await wait(20);
}
const seconds = (performance.now() - began) / 1_000;
const pid = parts.pidOf('controller');
const cpuSeconds = await cpuOf(pid);
const end = performance.now() + quietMs;
while (performance.now() < end) {
  hear();
  await wait(20);
}
const beforeRest = statusWrites.length;
await wait(quietMs);
hear();
const atRest = statusWrites.length - beforeRest;
const most = Math.max(
  ...statusWrites.map(
    (at) => statusWrites.filter((other) => other >= at && other < at + windowMs - 50).length,
  ),
);
const { rssMb, peakMb } = await rssOf(pid);
const { metadata, spec, status } = await admin.get(resource, ref);
const megabytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) / 1024 / 1024;

const figures = new Figures();
const what = `MultiNicBizConfig of ${nodes} nodes with ${nics.length} NICs`;
figures.goal(`${what}: until every node has its object`, seconds, goals.seconds, 's');
figures.note('CPU time of the controller until then', `${cpuSeconds.toFixed(1)} s`);
figures.goal('RSS of the controller', rssMb, goals.rssMb, 'MB');
figures.note('its peak', `${peakMb} MB`);
figures.goal('writes of its status within 5 s, at most', most, goals.writesIn5s, 'writes');
figures.note('writes of its status in all', `${statusWrites.length}`);
figures.goal('writes of its status at rest', atRest, goals.writesAtRest, 'writes');
figures.goal('its size as JSON', megabytes({ metadata, spec, status }), limitMb, 'MiB');
figures.note('its status alone', `${megabytes(status).toFixed(2)} MiB`);
figures.end();

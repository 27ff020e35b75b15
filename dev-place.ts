import { writeFile } from 'node:fs/promises';
import {
  applyConfig,
  attach,
  installDeployed,
  openPlace,
} from './test/integration/migrate/management.ts';

const place = await openPlace('migplace');
const { site } = place;
await writeFile(
  '/tmp/w/mig-env',
  `export KUBECONFIG=${site.cluster.kubeconfig} SITE=${site.directory} HOSTS="${site.workers.map((w) => w.host.netns).join(' ')}" UUIDS="${site.workers.map((w) => w.systemUuid).join(' ')}"\n`,
);
await installDeployed(place);
await applyConfig(
  place,
  'nodes',
  site.workers.map((w) => w.systemUuid),
);
await applyConfig(place, 'idle', [place.idleServer], { violaEndpoint: 'http://viola.example.com' });
for (const [i, w] of site.workers.entries()) await attach(place, w, `fa:16:3e:00:0${i}:20`);
console.log('up');
await new Promise((r) => process.once('SIGTERM', r));
await place[Symbol.asyncDispose]();

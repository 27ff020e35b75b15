import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { createHttpServer, listen } from '../../src/http/server.ts';
import { serveInventory } from '../../src/inventory/routes.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { KubeError } from '../../src/kube/errors.ts';
import { createReadSources } from '../../src/operator/serve/read-api/read-sources.ts';
import { serveReads } from '../../src/operator/serve/read-api/routes.ts';
import { delivered, setScene } from '../../src/operator/testing/scene.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { about } from '../fixtures/about.ts';
import { openTriggerFixture } from '../fixtures/triggers.ts';
import { ViolaFixture } from '../fixtures/viola.ts';
import { scaled } from '../speed.ts';

const fuzz = join(import.meta.dirname, '../../rig/fuzz');
const stop = new AbortController();
const open = new AsyncDisposableStack();
const report = z.object({
  complete: z.boolean(),
  operations: z.object({ selected: z.int(), tested: z.int() }),
  test_cases: z.object({ generated: z.int(), errored: z.int() }),
  failures: z.array(z.unknown()),
  errors: z.array(z.unknown()),
});
const urls = { viola: '', inventory: '', triggers: '' };
let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fuzz-'));
  open.defer(() => rm(directory, { recursive: true }));
  const bed = open.use(await ViolaFixture.start());
  urls.viola = (await listen(bed.app, { host: '127.0.0.1', port: 0 }, stop.signal)).url;
  urls.inventory = await inventory();
  urls.triggers = await triggers();
});

afterAll(async () => {
  stop.abort(new Error('done'));
  await open.disposeAsync();
});

/** The inventory and the read API, each with nodes. */
async function inventory(): Promise<string> {
  const store = await Store.open({ kind: 'sqlite', path: ':memory:' }, systemClock);
  open.use(store);
  const author = { namespace: 'ns', name: 'demo', generation: 1 };
  const entry = { id: 0, name: 'multinic0', portId: 'p', macAddress: 'fa:16:3e:00:00:00' };
  const interfaces = [{ ...entry, subnetId: 's', networkId: 'n', cidr: '10.0.0.0/24' }];
  const node = { nodeName: 'n1', instanceId: 's1', interfaces, uid: 'u', generation: 1 };
  const subnet = { id: 's', name: '\u0007 \ud800', cidr: '10.0.0.0/24', networkId: 'n' };
  const sighting = {
    ports: new Map([['p', { status: 'ACTIVE', addresses: [], createdAt: '2026-01-01T00:00:00Z' }]]),
    subnets: new Map([['s', { ...subnet, networkName: 'storage' }]]),
    configured: new Set<string>(),
    specHash: '',
  };
  await store.record('biz-1', author, [node], { sighting });
  const app = await createHttpServer({
    title: 'Inventory',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    about,
    registry: new Registry(),
  });
  open.defer(() => app.close());
  serveInventory(app, { store, tokens: undefined, unavailable: () => undefined });
  const scene = open.use(await setScene());
  await delivered(scene);
  const sources = createReadSources(scene.readDeps());
  serveReads(app, { sources, tokens: undefined, unavailable: () => undefined });
  return (await listen(app, { host: '127.0.0.1', port: 0 }, stop.signal)).url;
}

/** The trigger endpoint with an API server that has some OpenstackConfigs and refuses writes. */
async function triggers(): Promise<string> {
  const answers = [undefined, 404, 403];
  const patch = async (_resource: unknown, { name }: { readonly name: string }) => {
    const status = answers[name.length % answers.length];
    if (status === undefined) return {};
    throw new KubeError({ status, reason: 'Unknown', message: 'no' });
  };
  const bed = await openTriggerFixture({ patch: patch as unknown as KubeClient['patch'] });
  open.defer(() => bed.app.close());
  return (await listen(bed.app, { host: '127.0.0.1', port: 0 }, stop.signal)).url;
}

/** Share of requests in CI; the long suite sends all. */
const depth = process.env['MULTINIC_TEST_DEPTH'] === 'all' ? 1 : 1 / 16;

/** Requests of all kinds to each operation in a document; each answer must match the document. */
async function fuzzed(name: keyof typeof urls, ...options: readonly string[]) {
  const path = join(directory, `${name}.json`);
  const always = [
    ['--phases', 'coverage,fuzzing', '--mode', 'positive', '--no-shrink', '--continue-on-failure'],
    ['--checks', 'not_a_server_error,status_code_conformance,content_type_conformance'],
    ['--checks', 'response_headers_conformance,response_schema_conformance'],
    // Schemathesis workers are threads, and two workers disturb each other; every run has the same cases.
    ['--workers', '1', '--seed', '1', '--report', 'json', '--report-json-path', path],
  ].flat();
  const run = ['run', ...options, ...always, `${urls[name]}/openapi.json`];
  const said = await promisify(execFile)(join(fuzz, 'schemathesis'), run).catch(
    // Status 1 means failures, listed in the report.
    (error: { readonly stdout?: string; readonly stderr?: string }) => error,
  );
  if (!existsSync(path)) throw new Error(`no report: ${said.stderr}${said.stdout}`);
  return report.parse(JSON.parse(await readFile(path, 'utf8')));
}

function examples(count: number): readonly string[] {
  return ['--max-examples', `${Math.ceil(count * depth)}`];
}

test(
  'each answer of Viola, of the inventory and of the trigger endpoint matches the OpenAPI document',
  async () => {
    const token = ['-H', 'Authorization: Bearer rw'];
    const headers = [...token, '-H', 'x-provider-id: biz-1'];
    const reports = await Promise.all([
      fuzzed('viola', ...headers, ...examples(700)),
      fuzzed('inventory', ...examples(1_100)),
      // An operation without a body has at most about sixty cases.
      fuzzed('triggers', ...token, ...examples(500)),
    ]);
    const least = [2_000 * depth, 2_000 * depth, 40];
    for (const [at, { operations, test_cases: cases, ...rest }] of reports.entries()) {
      expect(rest).toEqual({ complete: true, failures: [], errors: [] });
      expect(operations.tested).toBe(operations.selected);
      expect(cases.generated).toBeGreaterThanOrEqual(least[at] ?? Number.NaN);
      expect(cases.errored).toBe(0);
    }
  },
  scaled(600_000),
);

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { home } from '../../rig/chain/identities.ts';
import { accessSecrets } from '../../src/api/names.ts';
import { type Secret, secrets } from '../../src/kube/core-resources.ts';
import { applyConfig, attach } from '../fixtures/chain/acts.ts';
import { expectDoctor } from '../fixtures/chain/multinic.ts';
import {
  generous,
  untilConfigIsReady,
  untilConfigReason,
  untilConfigured,
} from '../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';

let world: World;
let worker: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1'], { managedAccess: true });
  [worker] = world.workers as [Worker];
});

afterAll(() => world?.[Symbol.asyncDispose]());

const ref = (name: string) => ({ namespace: home, name });

async function secret(name: string): Promise<Secret> {
  return world.management.client.get(secrets, ref(name));
}

function textOf({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}

/** Resolves when Viola's Pod has mounted the Secret's current content. */
async function untilMounted(name: string, key: string): Promise<void> {
  await vi.waitFor(async () => {
    const mounted = await readFile(join(world.directory, name, key), 'utf8');
    expect(mounted).toBe(textOf(await secret(name), key));
  }, generous);
}

/** Returns Viola's HTTP status for this token; verifies Viola's certificate by the CA in the Secret. */
async function statusFor(token: string): Promise<number> {
  const ca = textOf(await secret(accessSecrets.certificate), 'ca.crt');
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = get(
      `${world.violaUrl}/v1/k8s/clusters`,
      { ca, headers, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    asked.on('error', reject);
  });
}

describe('operator and Viola, with credentials made by the operator', () => {
  it('operator and Viola authenticate each other from the start, and a port becomes a NIC', async () => {
    expect(world.violaUrl).toMatch(/^https:/);
    await applyConfig(world, worker);
    await untilConfigIsReady(world, worker);
    await attach(world, worker);
    await untilConfigured(world, worker, 'multinic0');
  });

  it('Viola accepts an extra token from the grants Secret once the Secret is mounted', async () => {
    const sha256 = createHash('sha256').update('dashboard-token').digest('hex');
    const grant = JSON.stringify([
      { name: 'dashboard', sha256, providers: ['*'], verbs: ['read'] },
    ]);
    expect(await statusFor('dashboard-token')).toBe(401);
    const data = { 'dashboard.yaml': Buffer.from(grant).toString('base64') };
    await world.management.client.patch(secrets, ref(accessSecrets.grants), { data });
    await untilMounted(accessSecrets.grants, 'dashboard.yaml');
    expect(await statusFor('dashboard-token')).toBe(200);
  });

  it('operator and Viola authenticate each other again after all their Secrets were deleted while Viola was down', async () => {
    const before = await secret(accessSecrets.token);
    await world.parts.kill('viola');
    await world.parts.stop('operator');
    for (const name of Object.values(accessSecrets)) {
      await world.management.client.delete(secrets, ref(name));
    }
    await world.parts.restart('operator');
    await untilMounted(accessSecrets.grants, 'operator.yaml');
    await untilMounted(accessSecrets.certificate, 'tls.crt');
    await untilConfigReason(world, worker, 'ViolaPostError', 'connection refused');
    await expectDoctor(world, 'ViolaPostError');
    await world.parts.restart('viola');
    await attach(world, worker);
    await untilConfigured(world, worker, 'multinic0', 'multinic1');
    const after = await secret(accessSecrets.token);
    expect(textOf(after, 'token')).not.toBe(textOf(before, 'token'));
    expect(await statusFor(textOf(before, 'token'))).toBe(401);
    expect(await statusFor(textOf(after, 'token'))).toBe(200);
  });
});

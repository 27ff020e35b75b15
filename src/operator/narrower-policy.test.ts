import { describe, expect, it } from 'vitest';
import { FakeViola } from './testing/fake-viola.ts';
import { attach, delivered, environment, type Scene, setScene, spec } from './testing/scene.ts';

/** Delivers an OpenstackConfig's nodes, then restarts the operator with a narrower policy. */
async function narrowed(env: Readonly<Record<string, string>>): Promise<Scene> {
  const scene = await setScene();
  await delivered(scene);
  scene.restart({ ...environment, ...env });
  return scene;
}

const policies = [
  { ALLOWED_NAMESPACES: 'other' },
  { ALLOWED_PROVIDERS: 'other' },
  { ALLOWED_PROVIDERS: 'cloud-1' },
  { NAMESPACE_CLUSTERS: 'multinic-system=other' },
];

describe.each(policies)('an OpenstackConfig denied by a narrower policy %j', (env) => {
  it('a denied OpenstackConfig keeps its NICs, sends no requests, and continues when allowed again', async () => {
    await using scene = await narrowed(env);
    const before = scene.cloud.log.length;
    scene.clouds.requests.length = 0;
    scene.asked.length = 0;
    await scene.look();
    scene.cloudEvent({ whole: true });
    await scene.look();
    expect(scene.ready()).toContain('False PolicyDenied');
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.cloud.log).toHaveLength(before);
    expect(scene.clouds.requests).toEqual([]);
    expect(scene.asked).toEqual([]);
    expect(scene.notifications.brokers.size).toBe(0);
    scene.restart();
    await scene.look();
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it('a denied OpenstackConfig releases its NICs when deleted, with requests to Viola only', async () => {
    await using scene = await narrowed(env);
    const before = scene.cloud.log.length;
    scene.clouds.requests.length = 0;
    await scene.look();
    scene.kube.delete();
    await scene.look();
    scene.viola.clean();
    await scene.look();
    expect([...scene.viola.nodes.keys()]).toEqual([]);
    expect(scene.object()).toBeUndefined();
    expect(scene.cloud.log).toHaveLength(before);
    expect(scene.clouds.requests).toEqual([]);
  });
});

it('an OpenstackConfig leaves a former business cluster outside NAMESPACE_CLUSTERS after a move to an allowed cluster', async () => {
  await using scene = await narrowed({ NAMESPACE_CLUSTERS: 'multinic-system=biz-2' });
  const next = new FakeViola('second-');
  scene.otherViolas.set('biz-2', next);
  scene.edit({ credentials: { ...spec.credentials, k8sProviderID: 'biz-2' } });
  await scene.look();
  expect(scene.ready()).toContain('False RemovalHeld');
  expect([next.nodes.size, scene.viola.removals]).toEqual([2, []]);
  scene.kube.annotate({ 'multinic.io/allow-removals': 'now' });
  await scene.look();
  expect(scene.viola.removals).toEqual(['worker-1', 'worker-2']);
});

const insecure = { contrabassInsecureTLS: true, openstackInsecureTLS: true };

describe('unverified certificates', () => {
  it('unverified certificates requested by an OpenstackConfig are reported once, until verification is enabled', async () => {
    await using scene = await setScene({ ...environment, INSECURE_TLS_ENDPOINTS: '*' });
    scene.create({ settings: insecure });
    await scene.look();
    attach(scene.cloud, 1, 1);
    await scene.look();
    const message =
      'certificates are not verified for Contrabass at https://contrabass.test (spec.settings.contrabassInsecureTLS is true) and the cloud at https://keystone.test (spec.settings.openstackInsecureTLS is true)';
    expect(scene.condition('TLSVerified')).toMatchObject({
      status: 'False',
      reason: 'TLSNotVerified',
      message,
    });
    expect(scene.events.filter(({ reason }) => reason === 'TLSNotVerified')).toEqual([
      { type: 'Warning', reason: 'TLSNotVerified', message },
    ]);
    expect(scene.ready()).toContain('True ');
    expect(scene.clouds.requests[0]?.tls.insecure).toBe(true);
    expect(scene.clouds.identities[0]).toMatchObject({
      tls: { insecure: true },
      unverified: { by: 'spec.settings.openstackInsecureTLS is true', endpoints: ['*'] },
    });
    scene.edit({ settings: { contrabassInsecureTLS: false } });
    await scene.look();
    expect(scene.condition('TLSVerified')).toBeUndefined();
    expect(scene.clouds.identities.at(-1)).not.toHaveProperty('unverified');
  });

  it('unverified certificates set by the administrator are not reported', async () => {
    const own = { OPENSTACK_INSECURE_TLS: 'true', CONTRABASS_INSECURE_TLS: 'true' };
    await using scene = await setScene({ ...environment, ...own });
    scene.create({ settings: insecure });
    await scene.look();
    expect(scene.ready()).toContain('True ');
    expect(scene.condition('TLSVerified')).toBeUndefined();
    expect(scene.clouds.identities[0]).not.toHaveProperty('unverified');
  });

  it('an http endpoint is not reported as unverified', async () => {
    const http = { CONTRABASS_ENDPOINT: 'http://contrabass.test' };
    await using scene = await setScene({ ...environment, ...http });
    scene.create({ settings: { contrabassInsecureTLS: true } });
    await scene.look();
    expect(scene.ready()).toContain('True ');
    expect(scene.condition('TLSVerified')).toBeUndefined();
  });

  it('openstackInsecureTLS false in an OpenstackConfig overrides OPENSTACK_INSECURE_TLS', async () => {
    await using scene = await setScene({ ...environment, OPENSTACK_INSECURE_TLS: 'true' });
    scene.create({ ...spec, settings: { openstackInsecureTLS: false } });
    await scene.look();
    expect(scene.clouds.identities[0]?.tls.insecure).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { attach, delivered, environment, type Scene, setScene, spec } from './testing/scene.ts';

/** An OpenstackConfig whose nodes were delivered before the operator's policy was narrowed. */
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
];

describe.each(policies)('an OpenstackConfig that is denied from now on, by %j', (env) => {
  it('keeps its NICs, asks nobody, and goes on when it is allowed again', async () => {
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

  it('gives its NICs back when it is deleted: Viola alone is asked, about its own nodes', async () => {
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

const insecure = { contrabassInsecureTLS: true, openstackInsecureTLS: true };

describe('certificates that are not verified at the wish of an OpenstackConfig', () => {
  it('are told of once, until they are verified', async () => {
    await using scene = await setScene({ ...environment, INSECURE_TLS_ENDPOINTS: '*' });
    scene.create({ settings: insecure });
    await scene.look();
    attach(scene.cloud, 1, 1);
    await scene.look();
    const message =
      'certificates are not verified: of Contrabass at https://contrabass.test (spec.settings.contrabassInsecureTLS is true), of the cloud at https://keystone.test (spec.settings.openstackInsecureTLS is true)';
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

  it('are what an administrator decided for all, and nobody is told', async () => {
    const own = { OPENSTACK_INSECURE_TLS: 'true', CONTRABASS_INSECURE_TLS: 'true' };
    await using scene = await setScene({ ...environment, ...own });
    scene.create({ settings: insecure });
    await scene.look();
    expect(scene.ready()).toContain('True ');
    expect(scene.condition('TLSVerified')).toBeUndefined();
    expect(scene.clouds.identities[0]).not.toHaveProperty('unverified');
  });

  it('have nothing to do with a place without TLS', async () => {
    const http = { CONTRABASS_ENDPOINT: 'http://contrabass.test' };
    await using scene = await setScene({ ...environment, ...http });
    scene.create({ settings: { contrabassInsecureTLS: true } });
    await scene.look();
    expect(scene.ready()).toContain('True ');
    expect(scene.condition('TLSVerified')).toBeUndefined();
  });

  it('are verified where the OpenstackConfig says so, whatever the operator is told', async () => {
    await using scene = await setScene({ ...environment, OPENSTACK_INSECURE_TLS: 'true' });
    scene.create({ ...spec, settings: { openstackInsecureTLS: false } });
    await scene.look();
    expect(scene.clouds.identities[0]?.tls.insecure).toBe(false);
  });
});

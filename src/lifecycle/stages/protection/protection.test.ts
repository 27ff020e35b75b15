import { describe, expect, it } from 'vitest';
import type { Checked, ProtectionWanted } from '../../model/accepted.ts';
import type { Observed } from '../../model/stage.ts';
import { webhooksOf } from './configuration.ts';
import { protection } from './protection.ts';

const now = new Date('2026-11-26T12:00:00Z');
const wanted: ProtectionWanted = { preventsMutations: true, recovers: true, allowed: new Set() };
const access = { authorities: 'new and old', user: 'system:serviceaccount:ns:multinic-operator' };
const bundle = Buffer.from(access.authorities).toString('base64');
const problem = { field: 'spec.protection', message: 'unusable' };

function observed(checked: Checked<ProtectionWanted>, caBundles: readonly string[] = []): Observed {
  const webhooks = caBundles.map((caBundle) => ({ clientConfig: { caBundle } }));
  const live = caBundles.length === 0 ? undefined : { metadata: { name: 'x' }, webhooks };
  return {
    operator: { metadata: { name: 'production', namespace: 'ns', uid: '1' } },
    accepted: { protection: checked },
    namespace: 'ns',
    objects: { find: () => live },
    kubernetesMinor: 30,
    now,
  } as unknown as Observed;
}

describe('the protection stage', () => {
  it.each<[string, Checked<ProtectionWanted>, readonly string[], object]>([
    [
      'writes the configuration',
      { value: wanted },
      [],
      { apply: [{}], remove: [], report: { configured: false } },
    ],
    [
      'reports configured with our CAs in the configuration',
      { value: wanted },
      [bundle, bundle],
      { report: { configured: true } },
    ],
    [
      'reports not configured with a different CA in the configuration',
      { value: wanted },
      [bundle, 'other'],
      { report: { configured: false } },
    ],
    [
      'deletes the configuration with prevention off',
      { value: { ...wanted, preventsMutations: false } },
      [bundle],
      { apply: [], remove: [{ ref: { name: 'multinic-protection' } }] },
    ],
    [
      'plans nothing for a missing configuration with prevention off',
      { value: { ...wanted, preventsMutations: false } },
      [],
      { apply: [], remove: [] },
    ],
    [
      'deletes the configuration during break-glass',
      { value: { ...wanted, breakGlassUntil: new Date(now.getTime() + 5_000) } },
      [bundle],
      { apply: [], remove: [{}], requeueAfterMs: 5_000 },
    ],
    [
      'writes the configuration after break-glass',
      { value: { ...wanted, breakGlassUntil: now } },
      [],
      { apply: [{}], remove: [] },
    ],
    [
      'deletes the configuration when every operation is allowed',
      { value: { ...wanted, allowed: new Set(['update', 'delete', 'scale']) } },
      [bundle],
      { apply: [], remove: [{}] },
    ],
    [
      'changes nothing with an unusable spec',
      { problems: [problem] },
      [bundle],
      { apply: [], remove: [], problems: [problem], report: { configured: true } },
    ],
  ])('the protection stage %s', (_, checked, caBundles, plan) => {
    expect(protection(observed(checked, caBundles), access)).toMatchObject(plan);
  });

  it('the protection stage changes nothing before a certificate exists', () => {
    const plan = protection(observed({ value: wanted }, [bundle]), {
      ...access,
      authorities: undefined,
    });
    expect(plan).toMatchObject({ apply: [], remove: [] });
  });
});

function operations(entries: ReturnType<typeof webhooksOf>) {
  return entries.map(({ rules }) =>
    [...new Set(rules.flatMap((rule) => rule.operations))].toSorted(),
  );
}

describe('webhooksOf', () => {
  const input = {
    ...access,
    namespace: 'ns',
    url: undefined,
    allowed: wanted.allowed,
    kubernetesMinor: 28,
  };
  const opened = (...allowed: ('update' | 'delete' | 'scale')[]) =>
    webhooksOf({ ...input, allowed: new Set(allowed) });

  it('webhooksOf returns two entries with failurePolicy Fail and exemptions as matchConditions', () => {
    const webhooks = webhooksOf(input);
    const common = {
      failurePolicy: 'Fail',
      sideEffects: 'NoneOnDryRun',
      timeoutSeconds: 3,
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ns' } },
      clientConfig: {
        caBundle: bundle,
        service: {
          namespace: 'ns',
          name: 'multinic-operator-webhook',
          path: '/validate-multinic-protection',
        },
      },
    };
    expect(webhooks).toMatchObject([
      {
        name: 'vprotection.multinic.example.com',
        objectSelector: { matchLabels: { 'multinic.example.com/protected': 'true' } },
        ...common,
      },
      { name: 'scale.vprotection.multinic.example.com', ...common },
    ]);
    const names = webhooks.map(({ matchConditions }) => matchConditions?.map(({ name }) => name));
    const identities = ['not-lifecycle', 'not-controllers-or-nodes', 'not-control-plane'];
    expect(names).toEqual([
      [...identities, 'changes-content'],
      [...identities, 'is-managed'],
    ]);
  });

  it('webhooksOf uses failurePolicy Ignore without matchConditions before Kubernetes 1.28', () => {
    for (const webhook of webhooksOf({ ...input, kubernetesMinor: 27 })) {
      expect(webhook).toMatchObject({ failurePolicy: 'Ignore' });
      expect(webhook.matchConditions).toBeUndefined();
    }
  });

  it('webhooksOf removes allowed operations from the rules', () => {
    expect(operations(opened())).toEqual([['DELETE', 'UPDATE'], ['UPDATE']]);
    expect(operations(opened('update'))).toEqual([['DELETE'], ['UPDATE']]);
    expect(operations(opened('delete'))).toEqual([['UPDATE'], ['UPDATE']]);
    expect(operations(opened('scale'))).toEqual([['DELETE', 'UPDATE']]);
    const claims = opened('delete')[0]?.rules.flatMap(({ resources }) => resources);
    expect(claims).not.toContain('persistentvolumeclaims');
  });

  it.each([
    ['https://10.0.0.1:9443', 'https://10.0.0.1:9443/validate-multinic-protection'],
    ['https://proxy.example/webhook', 'https://proxy.example/webhook'],
  ])('webhooksOf uses the webhook URL %s', (url, called) => {
    expect(webhooksOf({ ...input, url })[0]?.clientConfig).toEqual({
      url: called,
      caBundle: bundle,
    });
  });
});

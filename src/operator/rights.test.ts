import { describe, expect, it } from 'vitest';
import { claimsOf, qualified } from '../kube/rights.ts';
import { definitionOf, neededRights, placesOf, type RightsSettings } from './rights.ts';

const usual: RightsSettings = {
  namespace: 'home',
  watchNamespace: undefined,
  secretNamespaces: [],
  violaAccess: 'given',
  violaTls: 'given',
  rabbitmqSecrets: false,
};

/** Returns the operator's necessary rights with these settings, as `verb resource in namespace`. */
function needed(settings: Partial<RightsSettings>): string[] {
  const all = { ...usual, ...settings };
  return claimsOf(neededRights(all), placesOf(all)).map(({ action }) => {
    const { verb, namespace = '*', name = '' } = action;
    return `${verb} ${qualified(action)} ${name} in ${namespace}`.replaceAll('  ', ' ');
  });
}

describe("the operator's rights", () => {
  it("the operator's rights cover all namespaces, and Secrets only in multinic-system", () => {
    expect(needed({})).toEqual([
      'list openstackconfigs.multinic.example.com in *',
      'watch openstackconfigs.multinic.example.com in *',
      'patch openstackconfigs.multinic.example.com in *',
      'patch openstackconfigs.multinic.example.com/status in *',
      'create events in *',
      'patch events in *',
      'get customresourcedefinitions.apiextensions.k8s.io openstackconfigs.multinic.example.com in *',
      'get namespaces in *',
      'get leases.coordination.k8s.io multinic-operator in home',
      'patch leases.coordination.k8s.io multinic-operator in home',
      'create leases.coordination.k8s.io in home',
      'list configmaps multinic-operator-triggers in home',
      'watch configmaps multinic-operator-triggers in home',
      'get secrets in multinic-system',
    ]);
  });

  it("the operator's rights cover three namespaces when one namespace is watched", () => {
    const one = needed({ watchNamespace: 'team' });
    expect(new Set(one.map((line) => line.split(' in ')[1]))).toEqual(
      new Set(['team', 'kube-system', 'home']),
    );
    expect(one).toContain('get secrets in team');
    expect(one).toContain('get namespaces in team');
    expect(one).toContain('create events in home');
    expect(definitionOf({ ...usual, watchNamespace: 'team' })).toBeUndefined();
  });

  it('Secret rights cover each namespace in SECRET_NAMESPACES exactly once', () => {
    const rights = needed({ watchNamespace: 'team', secretNamespaces: ['a', 'b', 'a'] });
    expect(rights.filter((line) => line.includes('secrets'))).toEqual([
      'get secrets in a',
      'get secrets in b',
    ]);
  });

  it.each([
    ['violaAccess', ['multinic-operator-viola-token', 'viola-api-tokens']],
    ['violaTls', ['multinic-ca', 'viola-api-tls']],
  ])('Secret rights cover named Secrets when %s is managed', (setting, names) => {
    const before = needed({});
    const more = needed({ [setting]: 'managed' }).filter((line) => !before.includes(line));
    const verbs = ['get', 'create', 'patch'];
    const wanted = names.flatMap((name) => verbs.map((verb) => `${verb} secrets ${name} in home`));
    expect(more).toEqual(wanted);
    expect(needed({ [setting]: 'given' })).toEqual(before);
  });

  it('Secret rights include create and patch in SECRET_NAMESPACES when rabbitmqSecrets is on', () => {
    const before = needed({ secretNamespaces: ['a', 'b'] });
    const all = needed({ secretNamespaces: ['a', 'b'], rabbitmqSecrets: true });
    expect(all.filter((line) => !before.includes(line))).toEqual([
      'create secrets in a',
      'patch secrets in a',
      'create secrets in b',
      'patch secrets in b',
    ]);
  });
});

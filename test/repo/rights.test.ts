import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { managedObjects } from '../../src/api/names.ts';
import { triggerConfigMap } from '../../src/api/trigger-config.ts';
import { controllerRights } from '../../src/controller/rights.ts';
import { qualified, type Right } from '../../src/kube/rights.ts';
import { lifecycleRights } from '../../src/lifecycle/rights.ts';
import { operatorRights } from '../../src/operator/rights.ts';
import { violaRights, writerRights } from '../../src/viola/rights.ts';
import { rareUses } from '../rbac/rare.ts';
import { filesBelow, textOf } from './tree.ts';

const tables = {
  operator: operatorRights.rights,
  lifecycle: lifecycleRights('multinic-system').rights,
  viola: violaRights.rights,
  writer: writerRights.rights,
  controller: controllerRights('multinic-system').rights,
} satisfies Record<string, readonly Right[]>;
const all = Object.entries(tables).flatMap(([part, rights]) =>
  rights.map((right: Right) => ({
    part,
    name: `${right.verbs.join(',')} ${qualified(right)}`,
    right,
  })),
);

describe('a right in the tables', () => {
  it.each(all)('of $part: $name says why, in both languages', ({ right }) => {
    expect(right.why.en).toMatch(/^[A-Z].*\.$/);
    expect(right.why.ko).toMatch(/[가-힣].*\.$/);
  });

  it.each(all)('of $part: $name names what it is about, each verb once', ({ right }) => {
    const words = [right.group, right.resource, ...(right.names ?? []), ...right.verbs];
    expect(words.filter((word) => word.includes('*'))).toEqual([]);
    expect(right.verbs.length).toBe(new Set(right.verbs).size);
    expect(right.names?.length).not.toBe(0);
  });

  it('lists Secrets nowhere but where there are registrations only, or one by its name', () => {
    const listed = all.filter(
      ({ right: { resource, verbs, names } }) =>
        resource === 'secrets' &&
        names === undefined &&
        (verbs.includes('list') || verbs.includes('watch')),
    );
    expect(listed.map(({ part, right: { where } }) => [part, where])).toEqual([
      ['viola', 'registrations'],
    ]);
  });

  it('writes Secrets by name, those that register clusters, or beside OpenstackConfigs when it is told to, and nobody deletes one', () => {
    const writing = all.filter(
      ({ right: { resource, verbs } }) =>
        resource === 'secrets' && verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)),
    );
    const unnamed = writing.filter(({ right: { names } }) => names === undefined);
    expect(unnamed.map(({ part, right: { where, verbs } }) => [part, where, verbs])).toEqual([
      ['operator', 'brokerSecrets', ['create', 'patch']],
      ['viola', 'registrations', ['patch']],
    ]);
    expect(writing.flatMap(({ right: { verbs } }) => verbs)).not.toContain('delete');
  });

  it('gives what is held to names by name: one that lists them all cannot be', () => {
    const named = all.filter(({ right: { names } }) => names !== undefined);
    const listing = named.filter(
      ({ right: { verbs } }) => verbs.includes('list') || verbs.includes('watch'),
    );
    // But by a field selector of metadata.name (test/contract/kube/rights.ts, G06).
    expect(listing.map(({ right: { names } }) => names)).toEqual([
      [triggerConfigMap.name],
      ['multinic-system'],
      [managedObjects.protection],
      [managedObjects.credentials],
      [managedObjects.webhookCertificate],
    ]);
  });

  it('is granted once: no two rows of a place share resource and verb', () => {
    for (const [part, rights] of Object.entries(tables)) {
      const granted = rights.flatMap(({ group, resource, where, names = [''], verbs }: Right) =>
        names.flatMap((name) =>
          verbs.map((verb) => [where, group, resource, name, verb].join(' ')),
        ),
      );
      expect(granted.length, part).toBe(new Set(granted).size);
    }
  });
});

describe('a right that is used rarely', () => {
  const rare = all.flatMap(({ right }) =>
    right.rare
      ? right.verbs.flatMap((verb) =>
          (right.names ?? ['']).map((name) =>
            name === '' ? `${verb} ${qualified(right)}` : `${verb} ${qualified(right)} of ${name}`,
          ),
        )
      : [],
  );

  it('has a test that fails without it, and no other right has', () => {
    expect(new Set(rareUses.map(({ right }) => right))).toEqual(new Set(rare));
  });

  it.each(rareUses)('$right: the test is there', ({ file, test }) => {
    expect(textOf(file)).toContain(test);
  });
});

/** A template of a chart as a release of the usual values has it, as far as rules go. */
function rendered(path: string): string {
  return textOf(path)
    .replaceAll('{{ $.Release.Namespace | quote }}', 'own')
    .replaceAll(/\{\{ (\S+|include [^}]*) \| quote \}\}/g, 'other')
    .replaceAll(/(?<=\S.*)\{\{ include [^}]* \}\}/g, 'other')
    .replaceAll(/^\s*\{\{-? .*\}\}$/gm, '');
}

describe('the templates of the charts', () => {
  it.each([
    [
      'multinic-operator/templates/rbac.yaml',
      [...tables.operator, ...tables.viola, ...lifecycleRights('own').rights],
    ],
    ['multinic-agent/templates/rbac.yaml', controllerRights('own').rights],
    ['multinic-agent/templates/viola-access.yaml', writerRights.rights],
  ] as [string, readonly Right[]][])('of %s grant each right', (path, rights) => {
    const rules = parseAllDocuments(rendered(`charts/${path}`)).flatMap(
      (document) => (document.toJS() as { rules?: unknown[] } | null)?.rules ?? [],
    );
    const wanted = rights.map(({ group, resource, names, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      ...(names ? { resourceNames: names } : {}),
      verbs,
    }));
    for (const rule of rules) expect(wanted).toContainEqual(rule);
    for (const rule of wanted) expect(rules).toContainEqual(rule);
  });

  it('are all that binds anything in the charts', () => {
    const binding = filesBelow('charts').filter((path) =>
      textOf(path).includes('rbac.authorization.k8s.io'),
    );
    expect(binding.toSorted()).toEqual([
      'charts/multinic-agent/templates/rbac.yaml',
      'charts/multinic-agent/templates/users.yaml',
      'charts/multinic-agent/templates/viola-access.yaml',
      'charts/multinic-operator/templates/rbac.yaml',
      'charts/multinic-operator/templates/users.yaml',
    ]);
  });
});

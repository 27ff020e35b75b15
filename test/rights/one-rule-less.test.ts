import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { home, identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { controllerRights } from '../../src/controller/rights.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource } from '../../src/kube/resource.ts';
import { type Claim, claimsOf, type RightsTable } from '../../src/kube/rights.ts';
import { neededRights, operatorRights, placesOf } from '../../src/operator/rights.ts';
import { KnownRights } from '../../src/self-check/known-rights.ts';
import { systemClock as clock } from '../../src/time/clock.ts';
import { violaRights, writerRights } from '../../src/viola/rights.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}
interface Role extends KubeObject {
  readonly rules: readonly Rule[];
}
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const kinds = {
  role: defineResource<Role>({ ...rbac, plural: 'roles', kind: 'Role', namespaced: true }),
  clusterrole: defineResource<Role>({
    ...rbac,
    plural: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
  }),
};

const system = 'multinic-system';
const keepingAccess = {
  namespace: home,
  watchNamespace: undefined,
  secretNamespaces: [],
  violaAccess: 'managed',
  violaTls: 'managed',
} as const;
const usual = {
  operator: claimsOf(neededRights(keepingAccess), placesOf(keepingAccess)),
  viola: claimsOf(violaRights.rights, { registrations: ['multinic-clusters'], own: [home] }),
  writer: claimsOf(writerRights.rights, { objects: [system] }),
  controller: claimsOf(controllerRights(system).rights, {
    cluster: 'cluster',
    own: [system],
    agents: ['multinic-agents'],
  }),
};
const tables: Readonly<Record<keyof typeof usual, RightsTable>> = {
  operator: operatorRights,
  viola: violaRights,
  writer: writerRights,
  controller: controllerRights(system),
};
const manifests = {
  operator: ['management', 'operator', 'operator-viola-access'],
  viola: ['management', 'viola'],
  writer: ['namespaces', 'viola-business'],
  controller: ['namespaces', 'controller'],
} as const;

interface Cluster extends AsyncDisposable {
  readonly api: ApiServer;
  readonly admin: KubeClient;
  /** What the identity says is missing now. */
  missing(): Promise<readonly { readonly what: string; readonly fix: string }[]>;
}

async function open(part: keyof typeof usual): Promise<Cluster> {
  const api = await startApiServer();
  const admin = createKubeClient(api.access, { clock });
  const client = createKubeClient(api.accessAs(identities[part]), { clock });
  await createAll(admin, ...manifests[part]);
  return {
    api,
    admin,
    async missing() {
      const rights = new KnownRights(tables[part], usual[part] as readonly Claim[]);
      await rights.look({ client, clock, signal: new AbortController().signal });
      return rights.missing ?? [];
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await admin[Symbol.asyncDispose]();
      await api.close();
    },
  };
}

/** Roles that this identity's rights are in, with the number of each of their rules. */
function rulesIn({ api }: Cluster): readonly (readonly [kind: keyof typeof kinds, Role, number])[] {
  return (['role', 'clusterrole'] as const).flatMap((kind) =>
    (api.objects(`${kinds[kind].plural}.${rbac.group}`) as unknown as Role[]).flatMap((role) =>
      role.rules.map((_, at) => [kind, role, at] as const),
    ),
  );
}

/** Carries out the command that the log has for a right, as kubectl would. */
async function carryOut({ admin }: Cluster, fix: string): Promise<void> {
  const [, kind = '', name = '', , namespace, patch = ''] =
    /^kubectl patch (\w+) (\S+)( -n (\S+))? --type=json -p '(.*)'$/.exec(fix) ?? [];
  const [{ op, path, value }] = parse(patch) as [{ op: string; path: string; value: Rule }];
  expect([op, path]).toEqual(['add', '/rules/-']);
  const resource = kinds[kind as keyof typeof kinds];
  const ref = namespace === undefined ? { name } : { namespace, name };
  const { rules } = await admin.get(resource, ref);
  await admin.patch(resource, ref, { rules: [...rules, value] });
}

describe.each(['operator', 'viola', 'writer', 'controller'] as const)('%s', (part) => {
  it('has all its rights by the manifests, and each rule is one of them', async () => {
    await using cluster = await open(part);
    expect(await cluster.missing()).toEqual([]);
    const rights = new Set((usual[part] as readonly Claim[]).map(({ right }) => right));
    expect(rulesIn(cluster)).toHaveLength(rights.size);
  });

  it('says of each rule that it is missing, with a command that puts it back', async () => {
    await using cluster = await open(part);
    for (const [kind, role, at] of rulesIn(cluster)) {
      const { name, namespace } = role.metadata;
      const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
      await cluster.admin.patch(kinds[kind], ref, { rules: role.rules.toSpliced(at, 1) });
      const missing = await cluster.missing();
      const { resources = [], verbs = [] } = role.rules[at] ?? {};
      expect(missing, `rule ${at} of ${name}`).toHaveLength(1);
      expect(missing[0]?.what).toContain(verbs.join(', '));
      expect(missing[0]?.what).toContain(resources[0]?.split('/')[0]);
      await carryOut(cluster, missing[0]?.fix ?? '');
      expect(await cluster.missing()).toEqual([]);
    }
  });
});

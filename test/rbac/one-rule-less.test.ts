import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { RightsState } from '../../src/self-check/rights-state.ts';
import { systemClock as clock } from '../../src/time/clock.ts';
import { claimsOfParts, type PartName, parts, tables } from './claims.ts';
import { clusterRoles, type Role, type Rule, roles, setRules } from './roles.ts';

const kinds = { role: roles, clusterrole: clusterRoles };

const usual = claimsOfParts({
  violaAccess: 'managed',
  violaTls: 'managed',
  rabbitmqSecrets: true,
});
const manifests = {
  operator: ['management', 'operator', 'operator-viola-access', 'operator-rabbitmq'],
  lifecycle: ['management', 'lifecycle'],
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

async function open(part: PartName): Promise<Cluster> {
  const api = await startApiServer();
  const admin = createKubeClient(api.access, { clock });
  const client = createKubeClient(api.accessAs(identities[part]), { clock });
  await createAll(admin, ...manifests[part]);
  return {
    api,
    admin,
    async missing() {
      const rights = new RightsState(tables[part], usual[part]);
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
    (api.objects(`${kinds[kind].plural}.${kinds[kind].group}`) as unknown as Role[]).flatMap(
      (role) => role.rules.map((_, at) => [kind, role, at] as const),
    ),
  );
}

async function drop({ admin }: Cluster, kind: keyof typeof kinds, role: Role, at: number) {
  const { name, namespace } = role.metadata;
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
  await setRules(admin, kinds[kind], ref, () => role.rules.toSpliced(at, 1));
}

/** Carries out the command that the log has for a right, as kubectl would. */
async function carryOut({ admin }: Cluster, fix: string): Promise<void> {
  const [, kind = '', name = '', , namespace, patch = ''] =
    /^kubectl patch (\w+) (\S+)( -n (\S+))? --type=json -p '(.*)'$/.exec(fix) ?? [];
  const [{ op, path, value }] = parse(patch) as [{ op: string; path: string; value: Rule }];
  expect([op, path]).toEqual(['add', '/rules/-']);
  const resource = kinds[kind as keyof typeof kinds];
  const ref = namespace === undefined ? { name } : { namespace, name };
  await setRules(admin, resource, ref, (rules) => [...rules, value]);
}

describe.each(parts)('%s', (part) => {
  it('has all its rights by the manifests, and each rule is one of them', async () => {
    await using cluster = await open(part);
    expect(await cluster.missing()).toEqual([]);
    const rights = new Set(usual[part].map(({ right }) => right));
    expect(rulesIn(cluster)).toHaveLength(rights.size);
  });

  it('says of each rule that it is missing, with a command that puts it back', async () => {
    await using cluster = await open(part);
    for (const [kind, role, at] of rulesIn(cluster)) {
      await drop(cluster, kind, role, at);
      const [missing, ...others] = await cluster.missing();
      expect(others).toEqual([]);
      expect(missing?.what, `rule ${at} of ${role.metadata.name}`).toContain(
        role.rules[at]?.verbs.join(', '),
      );
      await carryOut(cluster, missing?.fix ?? '');
      expect(await cluster.missing()).toEqual([]);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { qualified } from '../../src/kube/rights.ts';
import { textOf } from '../repo/tree.ts';
import {
  type Account,
  accounts,
  beside,
  grantedBy,
  manifests,
  type PolicyRule,
  page,
  rulesOfList,
} from './can-i.ts';

const texts = z.array(z.string()).default([]);
const object = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z
    .array(z.object({ apiGroups: texts, resources: texts, resourceNames: texts, verbs: texts }))
    .default([]),
  roleRef: z.object({ kind: z.string(), name: z.string() }).optional(),
  subjects: z.array(z.object({ name: z.string(), namespace: z.string() })).default([]),
});
type Manifest = z.infer<typeof object>;

/** Rules that the manifests give to an identity in a namespace, by the book of RBAC. */
function rulesFor({ user, cluster }: Account, namespace: string): PolicyRule[] {
  const all = manifests[cluster].flatMap((name) =>
    parseAllDocuments(textOf(`deploy/rbac/${name}.yaml`)).map((one) => object.parse(one.toJS())),
  );
  const holds = ({ subjects, metadata }: Manifest) =>
    subjects.some((one) => user === `system:serviceaccount:${one.namespace}:${one.name}`) &&
    (metadata.namespace ?? namespace) === namespace;
  return all
    .filter(holds)
    .flatMap(({ roleRef, metadata }) =>
      all
        .filter(
          (role) =>
            role.kind === roleRef?.kind &&
            role.metadata.name === roleRef.name &&
            role.metadata.namespace === metadata.namespace,
        )
        .flatMap(({ rules }) => rules.map(ruleOf)),
    );
}

function ruleOf({ apiGroups, resources, resourceNames, verbs }: Manifest['rules'][number]) {
  const named = apiGroups.flatMap((group) =>
    resources.map((resource) => qualified({ group, resource })),
  );
  return { resources: named, names: resourceNames, verbs };
}

it.each(accounts)('the golden file of $user is what the manifests grant', async (account) => {
  const sections = new Map(
    account.namespaces.map((name) => [name, grantedBy(rulesFor(account, name))] as const),
  );
  await expect(page(sections)).toMatchFileSnapshot(`../system/cluster/rbac/${account.file}`);
});

describe('the table of kubectl', () => {
  const text = `Resources                                  Non-Resource URLs   Resource Names        Verbs
selfsubjectreviews.authentication.k8s.io   []                  []                    [create]
openstackconfigs.multinic.example.com      []                  []                    [list watch patch]
leases.coordination.k8s.io                 []                  [multinic-operator]   [get patch]
leases.coordination.k8s.io                 []                  []                    [create]
                                           [/healthz]          []                    [get]
`;
  const everybodys = grantedBy([
    { resources: ['selfsubjectreviews.authentication.k8s.io'], names: [], verbs: ['create'] },
  ]);

  it('is read as what it grants beside what everybody has', () => {
    const granted = beside(grantedBy(rulesOfList(text)), everybodys);
    expect(page(new Map([['ns', granted]]))).toBe(`# in ns
leases.coordination.k8s.io [multinic-operator]: get patch
leases.coordination.k8s.io: create
openstackconfigs.multinic.example.com: list patch watch
`);
  });
});

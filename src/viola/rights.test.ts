import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import {
  postedNode as node,
  reader,
  registrations,
  ViolaBed,
  writer,
} from '../../test/beds/viola-bed.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { secrets } from '../kube/core-resources.ts';
import { isForbidden } from '../kube/errors.ts';
import { systemClock } from '../time/clock.ts';

const manifest = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z
    .array(z.object({ resources: z.array(z.string()), verbs: z.array(z.string()) }))
    .default([]),
  subjects: z.array(z.object({ kind: z.string() })).default([]),
});

async function manifestsOf(name: string) {
  const path = join(import.meta.dirname, '../../deploy/rbac', `${name}.yaml`);
  const documents = parseAllDocuments(await readFile(path, 'utf8'));
  return documents.map((document) => manifest.parse(document.toJS()));
}

/** `verb resource in namespace` of everything that a manifest grants. */
async function granted(name: string): Promise<Set<string>> {
  const rights = (await manifestsOf(name)).flatMap(({ kind, metadata, rules }) =>
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => {
          const everywhere = kind === 'ClusterRole';
          return `${verb} ${resource} in ${everywhere ? '*' : metadata.namespace}`;
        }),
      ),
    ),
  );
  return new Set(rights);
}

let bed: ViolaBed;

beforeAll(async () => {
  bed = await ViolaBed.start();
});

afterAll(() => bed[Symbol.asyncDispose]());

/** The same of everything that an identity was answered; an apply that makes an object is a creation too. */
function used(identity: string): Set<string> {
  const requests = bed.api.audit.filter(({ user }) => user === identity);
  return new Set(
    requests.flatMap(({ verb, resource, namespace = '*', status }) => [
      `${verb} ${resource} in ${namespace}`,
      ...(status === 201 ? [`create ${resource} in ${namespace}`] : []),
    ]),
  );
}

describe('the rights of Viola', () => {
  it('are those that it uses, in both clusters, and no other', async () => {
    await bed.post([node]);
    await bed.post([{ ...node, interfaces: [] }]);
    await bed.get('?fresh=true');
    await bed.get('/Worker_1');
    await bed.call('DELETE', '/Worker_1');
    expect(used(writer)).toEqual(await granted('viola-business'));
    expect(used(reader)).toEqual(await granted('viola'));
  });

  it('show it the Secrets of its registrations and of no other namespace', async () => {
    await using client = createKubeClient(bed.api.accessAs(reader), { clock: systemClock });
    expect((await client.list(secrets, { namespace: registrations })).items).toHaveLength(1);
    for (const namespace of ['multinic-system', 'default', undefined]) {
      const refused = await client.list(secrets, { namespace }).catch((error: unknown) => error);
      expect(isForbidden(refused)).toBe(true);
    }
  });
});

it.each(['viola', 'viola-business', 'operator', 'controller'])(
  'the bindings of %s are for ServiceAccounts',
  async (name) => {
    const subjects = (await manifestsOf(name)).flatMap((object) => object.subjects);
    expect(new Set(subjects.map(({ kind }) => kind))).toEqual(new Set(['ServiceAccount']));
  },
);

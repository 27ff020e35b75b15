import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { home } from '../../rig/chain/identities.ts';
import {
  namespace,
  postedNode as node,
  reader,
  registrations,
  ViolaFixture,
  writer,
} from '../../test/fixtures/viola.ts';
import { useOf } from '../../test/rbac/used.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { secrets } from '../kube/core-resources.ts';
import { isForbidden } from '../kube/errors.ts';
import { claimsOf, type Right } from '../kube/rights.ts';
import { systemClock } from '../time/clock.ts';
import { violaRights, writerPlacesOf, writerRights } from './rights.ts';

const manifest = z.object({
  subjects: z.array(z.object({ kind: z.string() })).default([]),
});

async function manifestsOf(name: string) {
  const path = join(import.meta.dirname, '../../deploy/rbac', `${name}.yaml`);
  const documents = parseAllDocuments(await readFile(path, 'utf8'));
  return documents.map((document) => manifest.parse(document.toJS()));
}

function usual<R extends Right>(rights: readonly R[]): readonly R[] {
  return rights.filter(({ rare }) => !rare);
}

const exactly = { unused: [], refused: [], beyond: [] };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterAll(() => bed[Symbol.asyncDispose]());

describe("Viola's rights", () => {
  it("Viola's rights are exactly the rights used in both clusters", async () => {
    await bed.post([node]);
    await bed.post([{ ...node, interfaces: [] }]);
    await bed.get('?fresh=true');
    await bed.get('/Worker_1');
    await bed.call('DELETE', '/Worker_1');
    const inCluster = claimsOf(usual(writerRights.rights), writerPlacesOf(namespace));
    expect(useOf(bed.api.audit, writer, inCluster)).toEqual(exactly);
    const places = { registrations: [registrations], own: [home] };
    expect(useOf(bed.api.audit, reader, claimsOf(usual(violaRights.rights), places))).toEqual(
      exactly,
    );
  });

  it('Viola may read Secrets only in the registrations namespace', async () => {
    await using client = createKubeClient(bed.api.accessAs(reader), { clock: systemClock });
    expect((await client.list(secrets, { namespace: registrations })).items).toHaveLength(1);
    for (const elsewhere of ['multinic-system', 'default', undefined]) {
      const refused = await client
        .list(secrets, { namespace: elsewhere })
        .catch((error: unknown) => error);
      expect(isForbidden(refused)).toBe(true);
    }
  });
});

it.each(['viola', 'viola-business', 'operator', 'operator-viola-access', 'controller'])(
  'the bindings of %s name only ServiceAccounts',
  async (name) => {
    const subjects = (await manifestsOf(name)).flatMap((object) => object.subjects);
    expect(new Set(subjects.map(({ kind }) => kind))).toEqual(new Set(['ServiceAccount']));
  },
);

import { expect, it } from 'vitest';
import { billOfMaterials } from './bill-of-materials.ts';

const zod = { name: 'zod', version: '4.0.0', licence: 'MIT', purl: 'pkg:npm/zod@4.0.0' };
const libc = { name: 'libc6', version: '2.36', purl: 'pkg:deb/debian/libc6@2.36' };

interface Document {
  readonly documentNamespace: string;
  readonly packages: readonly {
    readonly SPDXID: string;
    readonly name: string;
    readonly licenseDeclared: string;
    readonly externalRefs: readonly { readonly referenceLocator: string }[];
  }[];
  readonly relationships: readonly { readonly relatedSpdxElement: string }[];
}

const read = (text: string) => JSON.parse(text) as Document;

it('the bill of materials lists each component once, with the name that advisories use', () => {
  const { packages, relationships } = read(billOfMaterials('agent', '1.0.0', [zod, libc]));
  expect(
    packages.map(({ name, licenseDeclared, externalRefs: [ref] }) => [
      name,
      licenseDeclared,
      ref?.referenceLocator,
    ]),
  ).toEqual([
    ['libc6', 'NOASSERTION', libc.purl],
    ['zod', 'MIT', zod.purl],
  ]);
  const ids = packages.map(({ SPDXID }) => SPDXID);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^SPDXRef-[A-Za-z0-9.-]+$/);
  expect(relationships.map(({ relatedSpdxElement }) => relatedSpdxElement)).toEqual(ids);
});

it('the bill of materials has every field that SPDX 2.3 requires', () => {
  const document = JSON.parse(billOfMaterials('agent', '1.0.0', [zod, libc])) as Document;
  expect(document).toMatchObject({
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: 'agent-1.0.0',
    creationInfo: { created: '1970-01-01T00:00:00Z', creators: ['Tool: multinic-build-image'] },
  });
  expect(document.documentNamespace).toMatch(/^https:\/\/[^#\s]+$/);
  for (const one of document.packages) {
    expect(one).toMatchObject({
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      copyrightText: 'NOASSERTION',
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl' }],
    });
  }
  for (const one of document.relationships) {
    expect(one).toMatchObject({
      spdxElementId: 'SPDXRef-DOCUMENT',
      relationshipType: 'DESCRIBES',
    });
  }
});

it('equal components in any order give an equal document; different components give a different document', () => {
  const one = billOfMaterials('agent', '1.0.0', [zod, libc]);
  expect(billOfMaterials('agent', '1.0.0', [libc, zod])).toBe(one);
  const other = billOfMaterials('agent', '1.0.0', [libc]);
  expect(read(other).documentNamespace).not.toBe(read(one).documentNamespace);
});

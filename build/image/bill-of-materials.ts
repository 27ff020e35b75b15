import { digestOf } from './layer.ts';

/** Component in an image, for which advisories may exist. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; undefined: only the copyright file states the license. */
  readonly licence?: string | undefined;
  /** Package URL (purl), the key for advisories. */
  readonly purl: string;
}

/** The components of an image as an SPDX 2.3 document; equal components give an equal text. */
export function billOfMaterials(
  name: string,
  version: string,
  parts: readonly Component[],
): string {
  const components = parts.toSorted((a, b) => (a.purl < b.purl ? -1 : 1));
  const packages = components.map((component) => ({
    SPDXID: `SPDXRef-${digestOf(component.purl).slice('sha256:'.length, 23)}`,
    name: component.name,
    versionInfo: component.version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: component.licence ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: component.purl,
      },
    ],
  }));
  const described = JSON.stringify(packages);
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${name}-${version}`,
    documentNamespace: `https://multinic.example.com/spdx/${name}-${digestOf(described).slice(7)}`,
    creationInfo: { created: '1970-01-01T00:00:00Z', creators: ['Tool: multinic-build-image'] },
    packages,
    relationships: packages.map(({ SPDXID }) => ({
      spdxElementId: 'SPDXRef-DOCUMENT',
      relationshipType: 'DESCRIBES',
      relatedSpdxElement: SPDXID,
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

interface SpdxPackage {
  readonly name: string;
  readonly versionInfo: string;
  readonly licenseDeclared: string;
  readonly externalRefs: readonly [{ readonly referenceLocator: string }];
}

/** Returns the components in a document from `billOfMaterials`. */
export function componentsIn(document: string): Component[] {
  const { packages } = JSON.parse(document) as { readonly packages: readonly SpdxPackage[] };
  return packages.map(
    ({ name, versionInfo, licenseDeclared, externalRefs: [{ referenceLocator }] }) => ({
      name,
      version: versionInfo,
      licence: licenseDeclared === 'NOASSERTION' ? undefined : licenseDeclared,
      purl: referenceLocator,
    }),
  );
}

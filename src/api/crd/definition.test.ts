import { describe, expect, it } from 'vitest';
import { crdDefinitions } from './definition.ts';
import { structuralErrors } from './structural.ts';

const definitions = Object.values(crdDefinitions());

describe('CRDs', () => {
  it.each(
    definitions.flatMap(({ spec }) =>
      spec.versions.map((version) => [`${spec.names.kind} ${version.name}`, version] as const),
    ),
  )('%s has a structural schema with a description on every field', (_name, version) => {
    expect(structuralErrors(version.schema.openAPIV3Schema)).toEqual([]);
  });

  it('the CRDs keep their kinds and short names', () => {
    expect(definitions.map(({ spec }) => [spec.names.kind, spec.names.shortNames])).toEqual([
      ['OpenstackConfig', ['osc']],
      ['MultiNicNodeConfig', ['mnnc']],
      ['MultiNicOperator', ['mno']],
      ['MultiNicBizConfig', ['mnbc', 'multinicclusterconfig', 'multinicclusterconfigs']],
      ['MultiNicBizConfig', ['mnbc', 'multinicclusterconfig', 'multinicclusterconfigs']],
    ]);
  });

  it('MultiNicNodeConfig stores v1 and serves v1alpha1 with the same schema', () => {
    const versions =
      definitions.find(({ spec }) => spec.names.kind === 'MultiNicNodeConfig')?.spec.versions ?? [];
    expect(versions.map(({ name, storage }) => [name, storage])).toEqual([
      ['v1', true],
      ['v1alpha1', false],
    ]);
    expect(versions[0]?.schema).toEqual(versions[1]?.schema);
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { openstackConfigSpec } from '../../src/api/openstackconfig.ts';
import type { ConfigObject } from '../../src/operator/model/openstack-config.ts';
import { resolveConfig } from '../../src/operator/model/resolve/resolve.ts';
import { operatorSettings } from '../../src/operator/model/settings/operator.ts';
import { readSettings } from '../../src/process/settings.ts';
import { blocksOf } from './guides.ts';
import { textOf } from './tree.ts';

const definitions = Object.values(crdDefinitions());

/** Header of `kubectl get`, without what `-o wide` adds. */
function columnsOf(kind: string): string[] {
  const [version] = definitions.find(({ spec }) => spec.names.kind === kind)?.spec.versions ?? [];
  const columns = version?.additionalPrinterColumns.filter(({ priority = 0 }) => priority === 0);
  return ['NAME', ...(columns ?? []).map(({ name }) => name.toUpperCase())];
}

describe.each(['README.md', 'README.ko.md'])('%s', (path) => {
  const first = blocksOf(textOf(path)).filter(({ section }) => section === '');

  it('has a sample on its first screen that the operator accepts', () => {
    const [sample] = first.filter(({ language }) => language === 'yaml');
    const config = parse(sample?.text ?? '') as ConfigObject;
    expect(openstackConfigSpec.parse(config.spec)).toEqual(config.spec);
    const env = {
      CONTRABASS_ENDPOINT: 'https://contrabass.test',
      VIOLA_ENDPOINT: 'https://viola.test',
    };
    const settings = readSettings(operatorSettings, { env, flags: {} });
    expect(resolveConfig(config, settings).kind).toBe('resolved');
  });

  it('has the output of kubectl get with the columns of the CRDs', () => {
    const headers = first.flatMap(({ text }) => text.match(/^NAME .*$/gm) ?? []);
    expect(headers.map((header) => header.split(/ +/))).toEqual([
      columnsOf('OpenstackConfig'),
      columnsOf('MultiNicNodeConfig'),
    ]);
  });
});

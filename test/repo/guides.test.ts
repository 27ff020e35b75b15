import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { jobRequest } from '../../src/api/job.ts';
import { labels } from '../../src/api/names.ts';
import { grants } from '../../src/http/who-may.ts';
import { readCloudsYaml } from '../../src/operator/cloud/credentials/clouds-yaml.ts';
import type { ConfigObject } from '../../src/operator/model/openstack-config.ts';
import { resolveConfig } from '../../src/operator/model/resolve/resolve.ts';
import { operatorSettings } from '../../src/operator/model/settings/operator.ts';
import { readSettings } from '../../src/process/settings.ts';
import { readRegistration } from '../../src/viola/clusters/secret.ts';
import { blocksOf } from './guides.ts';
import { textOf } from './tree.ts';

function blocks(start: string, guide = 'access'): string[] {
  const path = join(import.meta.dirname, `../../docs/guides/${guide}.md`);
  const page = readFileSync(path, 'utf8');
  return [...page.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].flatMap(([, text = '']) =>
    text.startsWith(start) ? [text] : [],
  );
}

it('shows a token file as it is read', () => {
  const [text = ''] = blocks('# token-file');
  expect(grants.parse(parse(text)).map(({ name }) => name)).toEqual(['operator', 'dashboard']);
});

interface Shown {
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  readonly stringData: Readonly<Record<string, string>>;
}

it('shows registered clusters as they are read', async () => {
  const shown = blocks('# registration').map((text) => parse(text) as Shown);
  const read = await Promise.all(
    shown.map(({ metadata, stringData }) =>
      readRegistration({
        metadata,
        data: Object.fromEntries(
          Object.entries(stringData).map(([key, text]) => [
            key,
            Buffer.from(text).toString('base64'),
          ]),
        ),
      }),
    ),
  );
  expect(read).toMatchObject([
    {
      providerId: 'biz-1',
      namespace: 'multinic-system',
      access: { server: 'https://10.0.0.1:6443' },
    },
    {
      providerId: 'biz-2',
      namespace: 'multinic-system',
      access: { server: 'https://10.0.0.2:6443' },
    },
  ]);
  expect(shown.every(({ metadata }) => labels.providerId in metadata.labels)).toBe(true);
});

it('shows a request as an agent reads it', () => {
  const [text = ''] = blocks('{\n  "protocol"');
  expect(jobRequest.parse(JSON.parse(text))).toEqual(JSON.parse(text));
});

it('the guide shows the file for new nodes as the renderers of cloud-init read it', () => {
  const page = textOf('docs/guides/existing-nics.md');
  const shown = blocksOf(page).find(({ text }) => text.includes('ethernets:'))?.text ?? '';
  const file = textOf('docs/guides/snippets/cloud-init-network.cfg');
  expect(parse(shown)).toEqual(parse(file));
});

it('the request that checks a node is valid', () => {
  const page = textOf('docs/support.md');
  const [block] = blocksOf(page).filter(({ language }) => language === 'json');
  expect(jobRequest.parse(JSON.parse(block?.text ?? ''))).toEqual(JSON.parse(block?.text ?? ''));
});

it('shows credentials as they are read', () => {
  const settings = readSettings(operatorSettings, {
    env: { CONTRABASS_ENDPOINT: 'https://contrabass.test', VIOLA_ENDPOINT: 'https://viola.test' },
    flags: {},
  });
  const shown = blocks('# sample', 'credentials').map((text) => parse(text) as ConfigObject);
  const configs = shown.filter(({ kind }) => kind === 'OpenstackConfig');
  const kinds = configs.map((object) => {
    const resolution = resolveConfig(object, settings);
    return resolution.kind === 'resolved' ? resolution.config.credentials.kind : resolution;
  });
  expect(kinds).toEqual(['provider', 'secret', 'direct']);
  const [secret] = shown.filter(({ kind }) => kind === 'Secret') as unknown as Shown[];
  const cloud = readCloudsYaml(secret?.stringData['clouds.yaml'] ?? '');
  expect(cloud).toMatchObject({ auth: { kind: 'applicationCredential' }, region: 'RegionOne' });
  expect(secret?.stringData[cloud.cacert ?? '']).toContain('BEGIN CERTIFICATE');
});

it('shows selected servers as they are read', () => {
  const settings = readSettings(operatorSettings, {
    env: { CONTRABASS_ENDPOINT: 'https://contrabass.test', VIOLA_ENDPOINT: 'https://viola.test' },
    flags: {},
  });
  const shown = [...blocks('# sample', 'selection'), ...blocks('# sample', 'new-nodes')];
  const read = shown.map((text) => {
    const resolution = resolveConfig(parse(text) as ConfigObject, settings);
    return resolution.kind === 'resolved' ? resolution.config : undefined;
  });
  expect(read.map((config) => config?.servers)).toEqual([
    { ids: ['0d7f5d0a-6a55-4d3e-8f55-2a37f5a0c001'], names: ['worker-2'], carrying: undefined },
    { ids: [], names: [], carrying: { metadata: { pool: 'storage' }, tags: ['multinic'] } },
    { ids: [], names: ['worker-2'], carrying: undefined },
    { ids: [], names: [], carrying: { metadata: { pool: 'storage' }, tags: [] } },
  ]);
  expect(read[2]).toMatchObject({ addressFamilies: ['IPv4', 'IPv6'], routing: 'pbr' });
});

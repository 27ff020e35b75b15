import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { nodeConfigs } from '../../rig/chain/kinds.ts';
import { acceptInterfaces } from '../../src/api/accept-interface.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { bizConfigSpec } from '../../src/api/multinicbizconfig.ts';
import { nodeConfigSpec } from '../../src/api/multinicnodeconfig.ts';
import { multiNicOperatorSpec } from '../../src/api/multinicoperator.ts';
import { openstackConfigSpec } from '../../src/api/openstackconfig.ts';
import { bizConfigsIn, readBizConfig } from '../../src/biz-config/biz-config.ts';
import { entriesOf } from '../../src/biz-config/entries.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { namespaces, pods, secrets } from '../../src/kube/core-resources.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { multiNicOperators } from '../../src/lifecycle/model/multinicoperator.ts';
import { accept } from '../../src/lifecycle/stages/accept/accept.ts';
import { readCloudsYaml } from '../../src/operator/cloud/credentials/clouds-yaml.ts';
import { openstackConfigs } from '../../src/operator/model/openstack-config.ts';
import { resolveConfig } from '../../src/operator/model/resolve/resolve.ts';
import { operatorSettings } from '../../src/operator/model/settings/operator.ts';
import { readSettings } from '../../src/process/settings.ts';
import { systemClock } from '../../src/time/clock.ts';
import { filesBelow, textOf } from './tree.ts';

interface Sample extends KubeObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec?: unknown;
  /** Of a Secret: the API server stores it as data. */
  readonly stringData?: Readonly<Record<string, string>>;
}

const files = filesBelow('deploy/samples').filter((path) => path.endsWith('.yaml'));
const samples = files.flatMap((path) =>
  parseAllDocuments(textOf(path)).map((document) => [path, document.toJS() as Sample] as const),
);

function samplesOf(kind: string): (readonly [string, Sample])[] {
  return samples.filter(([, sample]) => sample.kind === kind);
}

const settings = readSettings(operatorSettings, {
  env: { CONTRABASS_ENDPOINT: 'https://contrabass.test', VIOLA_ENDPOINT: 'https://viola.test' },
  flags: {},
});
const now = new Date('2026-11-26T10:00:00Z');

interface Kind {
  readonly resource: Resource<KubeObject>;
  readonly spec?: z.ZodType;
  /** Fields of the sample that its reconciler rejects. */
  readonly problems?: (sample: Sample) => readonly unknown[];
}

const kinds: Readonly<Record<string, Kind>> = {
  OpenstackConfig: {
    resource: openstackConfigs,
    spec: openstackConfigSpec,
    problems: (sample) => {
      const resolution = resolveConfig(sample, settings);
      return resolution.kind === 'refused' ? resolution.problems : [];
    },
  },
  MultiNicNodeConfig: {
    resource: nodeConfigs,
    spec: nodeConfigSpec,
    problems: ({ spec }) => acceptInterfaces(nodeConfigSpec.parse(spec).interfaces ?? []).rejected,
  },
  MultiNicBizConfig: {
    resource: bizConfigsIn('multinic.io'),
    spec: bizConfigSpec,
    problems: (sample) =>
      entriesOf(readBizConfig(sample), () => undefined).filter(({ kind }) => kind !== 'usable'),
  },
  MultiNicOperator: {
    resource: multiNicOperators,
    spec: multiNicOperatorSpec,
    problems: (sample) =>
      Object.values({ ...accept(sample, now), ignored: {} }).flatMap((stage) =>
        'problems' in stage ? (stage.problems ?? []) : [],
      ),
  },
  Secret: { resource: secrets },
  Pod: { resource: pods },
};

describe('the samples below deploy/samples', () => {
  let api: ApiServer;
  let client: KubeClient;

  beforeAll(async () => {
    api = await startApiServer({ crds: Object.values(crdDefinitions()) });
    client = createKubeClient(api.access, { clock: systemClock });
    await client.create(namespaces, { metadata: { name: 'multinic-system' } });
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await api.close();
  });

  it('have one of each kind of MultiNIC', () => {
    const ours = Object.keys(kinds).filter((kind) => kinds[kind]?.spec !== undefined);
    expect(ours.filter((kind) => samplesOf(kind).length === 0)).toEqual([]);
  });

  const served = samples.filter(([, { kind }]) => kind !== 'NetworkAttachmentDefinition');

  it.each(served)('%s is stored whole and accepted by its reconciler', async (path, sample) => {
    const kind = kinds[sample.kind ?? ''];
    if (kind === undefined) throw new Error(`${path}: no kind ${sample.kind}`);
    const options = { fieldManager: path, force: true };
    const stored = await client.apply(kind.resource, sample, options);
    const { stringData: _, ...expected } = sample;
    expect(stored).toMatchObject(expected);
    if (kind.spec !== undefined) expect(kind.spec.parse(sample.spec)).toEqual(sample.spec);
    expect(kind.problems?.(sample) ?? []).toEqual([]);
  });

  it('use addresses of documentation ranges only', () => {
    const addresses = files.flatMap((path) => textOf(path).match(/\b\d+\.\d+\.\d+\.\d+\b/g) ?? []);
    expect(addresses.filter((each) => !/^(192\.0\.2|198\.51\.100)\./.test(each))).toEqual([]);
    expect(addresses.length).toBeGreaterThan(0);
  });
});

it('the sample without Contrabass has a clouds.yaml that the operator reads', () => {
  const [[, secret] = []] = samplesOf('Secret');
  expect(readCloudsYaml(secret?.stringData?.['clouds.yaml'] ?? '')).toMatchObject({
    auth: { kind: 'applicationCredential' },
    region: 'RegionOne',
  });
  const [[, config] = []] = samplesOf('OpenstackConfig').filter(([path]) =>
    path.includes('clouds'),
  );
  expect(config?.spec).toMatchObject({
    credentials: { secretRef: { name: secret?.metadata.name } },
  });
});

const cniConfig = z.object({ name: z.string(), type: z.string(), master: z.string() });

it('the NetworkAttachmentDefinition makes macvlans on a NIC of MultiNIC, and its Pod names it', () => {
  const [[path, definition] = []] = samplesOf('NetworkAttachmentDefinition');
  const { config } = z.object({ config: z.string() }).parse(definition?.spec);
  expect(cniConfig.parse(JSON.parse(config))).toEqual({
    name: definition?.metadata.name,
    type: 'macvlan',
    master: 'multinic0',
  });
  const [[, pod] = []] = samplesOf('Pod').filter(([each]) => each === path);
  const networks = pod?.metadata as { annotations?: Record<string, string> };
  const named = JSON.parse(networks.annotations?.['k8s.v1.cni.cncf.io/networks'] ?? '[]') as object;
  expect(named).toMatchObject([{ name: definition?.metadata.name }]);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeConfigSpec } from '../../../src/api/multinicnodeconfig.ts';
import { expectGone, generous, untilConfigured } from '../../fixtures/e2e/acts.ts';
import { foreignState, ourState } from '../../fixtures/e2e/kernel-state.ts';
import { commandsOf, nameOf, type Seed } from '../../requirements/commands.ts';
import { outcomes } from '../../requirements/outcomes.ts';
import {
  carryRelease,
  loadAsDockerBuilds,
  loadNodes,
  openPlace,
  type Place,
  releasedVersion,
} from './guide/place.ts';
import type { Decisions } from './guide/reader.ts';
import { expectOutcome } from './guide/seed-command.ts';
import { start } from './guide/shell.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const install = 'docs/guides/install.md';
const register = 'docs/guides/register-cluster.md';
const upgrade = 'docs/guides/upgrade.md';
const bizConfig = 'docs/guides/biz-config.md';
const uninstall = 'docs/guides/uninstall.md';
const airGap = 'docs/guides/air-gap.md';

let place: Place;

beforeAll(async () => {
  place = await openPlace(say);
});

afterAll(async () => {
  await place?.[Symbol.asyncDispose]();
});

/** Runs a section and prints the duration. */
async function follow(page: string, section: string): Promise<string> {
  const began = performance.now();
  const output = await place.reader.follow(page, section);
  say(`${page}, ${section}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return output;
}

async function untilReady(): Promise<void> {
  const query = ['-n', 'multinic-system', 'get', 'openstackconfig', 'first', '-o'];
  const ready = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
  await vi.waitFor(
    async () => expect(await place.management.kubectl([...query, ready])).toBe('True'),
    generous,
  );
}

/** Hosts stay unchanged during all changes in the clusters. */
async function expectUntouched(happens: () => Promise<unknown>): Promise<void> {
  const [ours, foreign] = [await ourState(place.node), await foreignState(place.node)];
  await happens();
  expect(await ourState(place.node)).toEqual(ours);
  expect(await foreignState(place.node)).toEqual(foreign);
}

it('from an empty cluster to a Configured NIC, with a clouds.yaml', async () => {
  const { reader, decisions } = place;
  const release = await carryRelease(place);
  const began = performance.now();
  await reader.open(install, decisions.install);
  expect(await follow(install, '1. Unpack the release')).toContain(
    `multinic ${await releasedVersion(place)}\n`,
  );
  await loadNodes(place, join(release, 'images'));
  expect(await follow(install, '2. The business cluster')).toMatch(/Phase: +Succeeded/);
  expect(await follow(install, '3. The management cluster')).toMatch(/Phase: +Succeeded/);
  await follow(install, '4. Register the business cluster');
  await follow(install, '5. The first OpenstackConfig');
  const arrived = await follow(install, '6. Check the result');
  expect(arrived).toMatch(/^multinic0 10\.77\.0\.\d+ Configured$/m);
  say(`from nothing to Configured: ${((performance.now() - began) / 1000).toFixed(0)} s`);
}, 900_000);

it('a business cluster is registered again', async () => {
  await place.reader.open(register);
  expect(await follow(register, 'With the command')).toContain('"reachable":true');
});

it('an account from Contrabass replaces the clouds.yaml, and no NIC changes', async () => {
  const { reader, decisions } = place;
  await reader.open(install, decisions.install);
  await reader.decide(install, 'With Contrabass', decisions.contrabass);
  await expectUntouched(async () => {
    await follow(install, 'With Contrabass');
    await untilReady();
  });
});

/** These run in test/system/lifecycle. */
function needsLifecycle(seed: Seed, name: string): boolean {
  const outcome = outcomes[seed][name];
  return outcome !== undefined && 'on' in outcome && outcome.on === 'lifecycle';
}

function runsCommandsOf(seed: Seed): void {
  const commands = commandsOf(seed)
    .map((command) => [nameOf(command), command] as const)
    .filter(([name]) => !needsLifecycle(seed, name));
  it.each([...new Map(commands)])('%s', async (name, command) => {
    const outcome = outcomes[seed][name];
    if (!outcome) throw new Error(`test/requirements/outcomes.ts has no row for ${name}`);
    await expectOutcome(place.shells, command, outcome);
  });
}

describe.each(['000', '003'] as const)('commands in document %s', runsCommandsOf);

it('a MultiNicBizConfig for a node from Viola is migrated, restored and deleted', async () => {
  await removeSamples();
  await expectUntouched(async () => {
    const path = join(place.reader.home, 'biz-config.json');
    await writeFile(path, JSON.stringify(await bizConfigOfNode('worker-1', 'legacy')));
    await place.reader.open(bizConfig, {
      exported: { BIZ_CONFIG_FILE: path, BIZ_CONFIG: 'legacy' },
    });
    await follow(bizConfig, '1. Create it');
    await vi.waitFor(
      async () =>
        expect(await follow(bizConfig, '2. Read its status')).toMatch(/legacy +\S+ +1 +1 /),
      generous,
    );
    const migrated = await follow(bizConfig, '5. Migrate to one object per node');
    expect(migrated).toContain('1 of 1 nodes verified.');
    expect(await follow(bizConfig, '6. Go back')).toContain('The controller follows it again.');
    await follow(bizConfig, '7. Delete it');
  });
});

/** A MultiNicBizConfig with the same content as the node's MultiNicNodeConfig. */
async function bizConfigOfNode(node: string, name: string): Promise<object> {
  const get = ['-n', 'multinic-system', 'get', 'multinicnodeconfig', node, '-o', 'json'];
  const { spec } = JSON.parse(await place.business.kubectl(get)) as {
    readonly spec: NodeConfigSpec;
  };
  const interfaces = (spec.interfaces ?? []).map(({ portId, macAddress, address, cidr, mtu }) => ({
    portId,
    macAddress,
    address,
    cidr,
    mtu,
  }));
  const entry = { attachedNodeId: spec.instanceId, attachedNodeName: spec.nodeName, interfaces };
  return {
    apiVersion: 'multinic.io/v1',
    kind: 'MultiNicBizConfig',
    metadata: { name, namespace: 'multinic-system' },
    spec: { providerId: spec.providerId, nodeConfigs: [entry] },
  };
}

/** The samples in document 003 name unknown nodes: their objects never become Ready. */
async function removeSamples(): Promise<void> {
  const { business } = place;
  const inSystem = ['-n', 'multinic-system'];
  await business.kubectl([...inSystem, 'delete', 'multinicbizconfigs', '--all']);
  const made = ['multinicnodeconfigs', '-l', 'multinic.io/biz-config'];
  const consent = `multinic.io/delete-consent=${new Date().toISOString()}!`;
  await vi.waitFor(async () => {
    await business.kubectl([...inSystem, 'annotate', ...made, '--overwrite', consent]);
    await business.kubectl([...inSystem, 'delete', ...made, '--timeout=30s']);
    expect(await business.kubectl([...inSystem, 'get', ...made, '-o', 'name'])).toBe('');
  }, generous);
}

it('commands in the README, in a release folder', async () => {
  await expectUntouched(async () => {
    const folder = join(place.reader.home, 'multinic-release');
    await place.reader.open('README.md', { ...place.decisions.readme, folder });
    await follow('README.md', 'Install');
  });
  await loadAsDockerBuilds(place);
});

// These commands install again without the values from the guide; the next upgrade restores the values.
describe.each(['002'] as const)('commands in document %s', runsCommandsOf);

it('an upgrade changes no NIC', async () => {
  await expectUntouched(async () => {
    const values = join(place.reader.home, 'multinic/contrabass-values.yaml');
    await place.reader.open(upgrade, { exported: { ENVIRONMENT: 'dev', OPERATOR_VALUES: values } });
    await follow(upgrade, '1. Read the changes');
    await follow(upgrade, '3. Business clusters, then the management cluster');
    const seen = await follow(upgrade, '4. Check the result');
    expect(seen.match(/Phase: +Succeeded/g)).toHaveLength(2);
    await untilReady();
  });
});

it('MultiNIC goes and every NIC stays', async () => {
  await expectUntouched(async () => {
    await place.reader.open(uninstall);
    await follow(uninstall, 'Keep the NICs');
  });
  const left = ['get', 'pods,deployments,services', '-o', 'name', '-n'];
  expect(await place.management.kubectl([...left, 'multinic-operator-system'])).toBe('');
  expect(await place.business.kubectl([...left, 'multinic-system'])).toBe('');
});

it('parts run from source where none is installed', async () => {
  await expectUntouched(async () => {
    await using parts = start(place.shells.management, 'make run');
    await parts.until(/"msg":"viola started"/);
    await parts.until(/"msg":"operator started"/);
  });
});

/** The archive has the first release's version: both have the same commit. */
async function airGapDecisions(): Promise<Decisions> {
  return { exported: { VERSION: await releasedVersion(place) } };
}

it('make release builds a single file for a site without network', async () => {
  const { checkout: folder } = place.reader;
  await place.reader.open(airGap, { ...(await airGapDecisions()), folder });
  await follow(airGap, '1. Outside: one file');
  await follow(airGap, '2. Inside: unpack and check');
}, 900_000);

it('[RW-77] MultiNIC is installed again from the archive, without inventory, and adopts the existing NICs', async () => {
  const { reader, decisions, management, manager } = place;
  await loadNodes(place, join(reader.home, 'multinic-release/images'));
  await management.kubectl(['delete', 'namespace', 'multinic-operator-system']);
  await manager.makeVolume('later');
  await expectUntouched(async () => {
    await reader.open(airGap, await airGapDecisions());
    const seen = await follow(airGap, '4. Install');
    expect(seen.match(/Phase: +Succeeded/g)).toHaveLength(2);
    await reader.open(register);
    await follow(register, 'By hand');
    await reader.open(install, decisions.install);
    await follow(install, '5. The first OpenstackConfig');
    await follow(install, '6. Check the result');
    await untilConfigured(place, 'multinic0');
    await untilReady();
  });
}, 900_000);

it('MultiNIC goes and takes every NIC along', async () => {
  await place.reader.open(uninstall);
  await follow(uninstall, 'Remove the NICs');
  await expectGone(place, 'multinic0');
  await follow(uninstall, 'CRDs last');
  const crds = ['get', 'crd', '-o', 'name'];
  expect(await place.management.kubectl(crds)).not.toContain('openstackconfigs');
  expect(await place.business.kubectl(crds)).not.toContain('multinicnodeconfigs');
});

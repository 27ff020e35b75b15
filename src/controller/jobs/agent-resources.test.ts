import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { readSettings } from '../../process/settings.ts';
import { controllerSettings } from '../settings.ts';

describe("the agent's Job", () => {
  let fixture: ControllerFixture;

  beforeEach(async () => {
    fixture = await ControllerFixture.start();
  });

  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  it.each<[about: string, flags: Record<string, string>, expected: object]>([
    [
      'requests zero CPU and memory by default, which a full node admits',
      {},
      { requests: { cpu: '0', memory: '0' }, limits: { memory: '256Mi' } },
    ],
    [
      '[C18] requests the configured minimum for a LimitRange',
      {
        'agent-resources': '{"requests":{"cpu":"10m","memory":"16Mi"},"limits":{"memory":"256Mi"}}',
      },
      { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '256Mi' } },
    ],
    [
      '[C18] has the configured limits for a LimitRange maximum',
      {
        'agent-resources':
          '{"limits":{"cpu":1,"memory":"300Mi","ephemeral-storage":"1Gi"},"requests":{"cpu":null}}',
      },
      { requests: {}, limits: { cpu: '1', memory: '300Mi', 'ephemeral-storage': '1Gi' } },
    ],
  ])('%s', async (_about, flags, expected) => {
    fixture.run(flags);
    await fixture.addNode('worker-1');
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'True AllInterfacesConfigured');
    const [job] = fixture.jobs();
    expect(job?.spec?.template.spec?.containers?.[0]?.resources).toEqual(expected);
  });
});

it.each(['10m', '[]', '{"cpu":"10m"}', '{"requests":{"cpu":"ten"}}', '{"limits":{"gpu":"1"}}'])(
  'agent resources %s are refused with an example',
  (text) => {
    const source = { env: { AGENT_RESOURCES: text }, flags: {} };
    expect(() => readSettings(controllerSettings, source)).toThrow(
      /AGENT_RESOURCES: .* must be requests and limits of a container as JSON, such as \{"requests"/,
    );
  },
);

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentDeps } from '../../src/agent/agent.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';
import { entry, macOf, request, rule } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';

let bed: AgentOnModel;
let generation: number;
beforeEach(async () => {
  generation = 0;
  bed = await AgentOnModel.open();
  await well([entry(1), entry(2)]);
});
afterEach(() => bed[Symbol.dispose]());

function ask(
  interfaces: readonly RequestInterface[],
  more: Partial<JobRequest> = {},
  deps: Partial<AgentDeps> = {},
) {
  generation += 1;
  return bed.run(request(interfaces, { generation, protocol: 3, ...more }), deps);
}

async function well(interfaces: readonly RequestInterface[]): Promise<void> {
  expect(await ask(interfaces)).toMatchObject({ outcome: 'ok', warnings: [] });
}

const file = () => join(bed.box.root, 'etc/netplan/91-multinic1.yaml');
const heir = entry(3, { index: 1 });

describe('the number of a NIC that leaves', () => {
  test('is not free while its file is one of somebody else', async () => {
    writeFileSync(file(), 'network: {ethernets: {eth9: {dhcp4: true}}}\n');
    const { nics } = await ask([entry(1), heir]);
    expect(nics).toMatchObject([
      { state: 'Configured' },
      { mac: macOf(3), reason: 'PersistFailed' },
      { mac: macOf(2), state: 'Removed' },
    ]);
    expect(readFileSync(file(), 'utf8')).toContain('eth9');
  });

  describe('is another one’s when NetworkManager sets its rule again:', () => {
    beforeEach(async () => {
      bed.anotherBoot();
      await well([entry(1)]);
      await well([entry(1), heir]);
      const { rules } = bed.box.kernel;
      const again = rule('10.0.0.2/32', 101, 10_101);
      bed.box.kernel = { ...bed.box.kernel, rules: [...rules, again] };
    });

    test('that one is as it shall be all the same', async () => {
      const { nics } = await ask([entry(1), heir], { action: 'check' });
      expect(nics).toMatchObject([
        { state: 'Configured' },
        { mac: macOf(2), reason: 'Drifted' },
        { mac: macOf(3), state: 'Configured' },
      ]);
      await well([entry(1), heir]);
      expect(bed.effects).not.toContain('agent.file.stage');
    });

    test('that one leaves for good in the run in which the rule goes', async () => {
      const { outcome, known } = await ask([entry(1)]);
      expect(outcome).toBe('ok');
      expect(known).toMatchObject([{ mac: macOf(1) }]);
      expect(bed.box.kernel.rules.filter(({ table }) => table === 101)).toEqual([]);
    });

    test('that one has its file again when its change is undone', async () => {
      const text = readFileSync(file(), 'utf8');
      let isFull = false;
      const perform: AgentDeps['perform'] = async (name, write) => {
        isFull ||= name === 'agent.file.commit';
        if (isFull && name === 'agent.state.write') throw new Error('ENOSPC');
        return write();
      };
      const moved = { ...heir, addresses: ['10.0.0.9/24'] };
      const { nics } = await ask([entry(1), moved], {}, { perform });
      expect(nics).toContainEqual(expect.objectContaining({ mac: macOf(3), state: 'Failed' }));
      expect(readFileSync(file(), 'utf8')).toBe(text);
    });
  });
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { entry, macOf, request } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';

const wanted = [entry(1), entry(2), entry(3)];

test('[RW-10] the same asked for again, in whatever order, has the same names and writes nothing', async () => {
  const orders = fc.array(fc.shuffledSubarray(wanted, { minLength: 3 }), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(orders, fc.boolean(), async (repeats, anew) => {
      using bed = await AgentOnModel.open();
      const first = await bed.run(request(wanted));
      const names = new Map(first.nics.map(({ mac, name }) => [mac, name]));
      expect([...names.keys()].toSorted()).toEqual([1, 2, 3].map(macOf));
      for (const [at, interfaces] of repeats.entries()) {
        const again = anew ? { generation: 2 + at } : { attempt: 1 + at };
        const { outcome, nics } = await bed.run(request(interfaces, again));
        expect(outcome).toBe('ok');
        expect(new Map(nics.map(({ mac, name }) => [mac, name]))).toEqual(names);
        const seen = ['agent.state.write', 'agent.result.write'];
        expect(bed.effects).toEqual(anew ? seen : seen.slice(1));
      }
    }),
    { numRuns: 5 },
  );
}, 60_000);

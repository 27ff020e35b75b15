import { describe, expect, it } from 'vitest';
import { explainPort } from './explain-port.ts';
import { configWith, notReady, refusedBy } from './testing/fault.ts';
import { nic, node, portFacts, read } from './testing/healthy.ts';

const mac = 'fa:16:3e:00:00:77';
const message =
  'OverBudget: NIC fa:16:3e:00:00:77 would be removed from node worker-18: the spec does not list them, and 4 nodes of 12 would lose NICs within an hour, more than the 3 that need no consent';

/** A port of a deselected subnet, whose NIC the controller of worker-18 holds. */
function heldFacts(code = 'OverBudget', macs = [mac]) {
  const { object = { uid: '', generation: 7, conditions: [], deleting: false } } = node(18);
  const ready = {
    type: 'Ready',
    status: 'False',
    reason: 'RemovalHeld',
    message: message.replace('OverBudget', code),
  } as const;
  const held = node(18, {
    ...notReady('RemovalHeld', ready.message, 'Configured'),
    nics: [nic(18, 0)],
    object: {
      ...object,
      conditions: [ready],
      heldRemovals: { code, macs, since: '2026-11-26T05:20:00Z' },
    },
  });
  const port = refusedBy('SubnetNotSelected', 'none of its addresses is in a selected subnet', {
    configs: [configWith({ selectsSubnet: false })],
  });
  return { ...portFacts, ...port, node: read(held) };
}

describe('explanation for a held removal', () => {
  it.each(['OverBudget', 'SideEffect', 'NotKnownYet'])(
    'the explanation names code %s, the numbers, the time and the next step',
    (code) => {
      const { answer, steps, headline } = explainPort(heldFacts(code));
      expect(answer).toMatchObject({ name: 'Acceptance', reason: 'RemovalHeld' });
      for (const text of [code, '4 nodes of 12', '1 NIC for 5m', mac]) {
        expect(answer?.evidence.en).toContain(text);
      }
      expect(answer?.evidence.ko).toContain('NIC 1개를 5분 동안 유지합니다');
      expect(answer?.next?.text.en).toMatch(/consent|agent run/);
      expect(answer?.next?.commands).toEqual([
        'kubectl multinic allow-removals multinic-system/storage',
      ]);
      expect(steps.find(({ name }) => name === 'Selection')?.result).toBe('warn');
      expect(headline.en).toContain('stays on node worker-18: RemovalHeld');
    },
  );

  it('the explanation names the deselected subnet when the controller holds a neighbour NIC', () => {
    const { answer } = explainPort(heldFacts('OverBudget', ['fa:16:3e:00:00:99']));
    expect(answer).toMatchObject({ name: 'Selection', reason: 'SubnetNotSelected' });
  });
});

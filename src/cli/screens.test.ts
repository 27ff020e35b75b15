import { describe, expect, it } from 'vitest';
import { changedPlan } from '../../test/fixtures/cli/plans.ts';
import { examine } from '../explain/examine.ts';
import { explainPort } from '../explain/explain-port.ts';
import { faults } from '../explain/testing/faults.ts';
import {
  config,
  nic,
  node,
  now,
  portFacts,
  read,
  systemFacts,
} from '../explain/testing/healthy.ts';
import { diffText } from './diff/command.ts';
import { doctorText } from './doctor/screen.ts';
import { nicList, nicRows } from './nics/rows.ts';
import { coloured, hasColours } from './output/colour.ts';
import { problemsIn, skippedIn } from './output/findings.ts';
import { formatTable } from './output/table.ts';
import { planText } from './plan/screen.ts';
import { statusText } from './status/screen.ts';
import { whyText } from './why/screen.ts';

const broken = {
  ...systemFacts,
  configs: read([
    config,
    { ...config, metadata: { ...config.metadata, name: 'tenant' }, status: {} },
  ]),
  nodes: read([
    node(17, {
      drifted: true,
      nics: [nic(17, 0, { reason: 'Drifted', message: 'mtu 1400' }), nic(17, 1)],
    }),
    node(18, {
      ready: 'False',
      state: 'Failed',
      reason: 'NICInUse',
      nics: [
        nic(18, 0),
        nic(18, 1, {
          state: 'Failed',
          reason: 'NICInUse',
          message: 'link ens8 has the foreign address 10.7.0.1/24',
        }),
      ],
      unusedPorts: [
        {
          portId: 'd3100e2f-1',
          macAddress: 'fa:16:3e:00:00:90',
          address: '10.50.0.9',
          reason: 'PortTooOld',
          message: 'older',
        },
      ],
    }),
  ]),
  kubernetesNodes: new Map(),
};
const fixed = { output: 'table', headers: true } as const;

describe('screens', () => {
  it.each(['en', 'ko'] as const)('status in %s', async (lang) => {
    const sections = examine(broken);
    const page = {
      facts: broken,
      inventory: read({ version: '0.2.0', milliseconds: 3 }),
      findings: problemsIn(sections),
      skipped: skippedIn(sections),
    };
    await expect(`${statusText(page, { ...fixed, lang })}\n`).toMatchFileSnapshot(
      `screens/status.${lang}.txt`,
    );
  });

  it.each(['en', 'ko'] as const)('doctor in %s', async (lang) => {
    const page = {
      facts: broken,
      sections: examine(broken),
      businessContext: new Map<string, string>(),
      context: 'prod-mgmt',
      seconds: 2.8,
    };
    await expect(`${doctorText(page, lang)}\n`).toMatchFileSnapshot(`screens/doctor.${lang}.txt`);
  });

  it.each(['en', 'ko'] as const)('why in %s, for each fault', async (lang) => {
    const texts = faults.map(({ title, facts }) => {
      const explanation = explainPort({ ...portFacts, ...facts });
      return `# ${title}\n${whyText(explanation, lang)}\n`;
    });
    await expect(texts.join('\n')).toMatchFileSnapshot(`screens/why.${lang}.txt`);
  });

  it('nics with an unused port, wide', async () => {
    const { columns } = nicList(() => now);
    const rows = broken.nodes.state === 'read' ? broken.nodes.value.flatMap(nicRows) : [];
    const text = formatTable(columns, rows, { wide: true, headers: true });
    await expect(`${text}\n`).toMatchFileSnapshot('screens/nics.txt');
  });

  it('plan with an added, a changed and a removed NIC', async () => {
    const text = planText(changedPlan, false);
    await expect(`${text}\n`).toMatchFileSnapshot('screens/plan.txt');
  });

  it('diff of a node without differences has one line for all NICs', () => {
    expect(diffText(node(17), now)).toContain('\nmultinic0, multinic1: no difference');
  });
});

describe('table output', () => {
  const columns = [
    { title: 'NAME', cell: ([name = '']: readonly string[]) => name },
    { title: 'STATE', cell: (row: readonly string[]) => row[1] ?? '' },
  ];

  it('aligns columns by display width: a Korean character takes two cells', () => {
    const text = formatTable(
      columns,
      [
        ['노드', 'a'],
        ['x', 'b'],
      ],
      { wide: false, headers: true },
    );
    expect(text).toBe('NAME  STATE\n노드  a\nx     b');
  });

  it.each(['a\u001b[31mred', 'a\u202eb', 'a\nb', 'a\u009b1m'])(
    'never writes the control characters of %j',
    (name) => {
      const text = formatTable(columns, [[name, '']], { wide: false, headers: false });
      expect(text).not.toMatch(/[\p{Cc}\u202e]/u);
    },
  );

  it('has colours on a terminal only, and not with NO_COLOR', () => {
    expect(hasColours({ isTTY: true }, {})).toBe(true);
    expect(hasColours({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(hasColours({}, {})).toBe(false);
    expect(coloured('viola  ok  2')).toBe('viola  \u001b[32mok\u001b[0m  2');
  });
});

import { describe, expect, it } from 'vitest';
import { changedPlan } from '../../test/fixtures/cli/plans.ts';
import { failedNode } from '../../test/fixtures/cli/played-operator.ts';
import { recordedFaults } from '../../test/fixtures/recorded-faults.ts';
import type { PlanView } from '../api/read-http.ts';
import { allowRemovals } from '../explain/commands.ts';
import { unreadSources } from '../explain/conclusion.ts';
import { examine } from '../explain/examine.ts';
import { explainPort } from '../explain/explain-port.ts';
import { problemsIn } from '../explain/findings.ts';
import { further } from '../explain/testing/further-faults.ts';
import {
  config,
  nic,
  node,
  now,
  portFacts,
  read,
  systemFacts,
} from '../explain/testing/healthy.ts';
import { consentText, holdText, nothingWaitsText, questionText } from './allow-removals/screen.ts';
import { diffText } from './diff/screen.ts';
import { doctorText } from './doctor/screen.ts';
import { nicList, nicRows } from './nics/rows.ts';
import { coloured, hasColours } from './output/colour.ts';
import { optionalIn, skippedIn } from './output/findings.ts';
import { formatTable } from './output/table.ts';
import { planText } from './plan/screen.ts';
import { statusText } from './status/screen.ts';
import { healText, syncText } from './sync/screen.ts';
import { whyPage } from './why/screen.ts';

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
    {
      ...failedNode,
      unusedPorts: [
        {
          portId: 'd3100e2f-1',
          macAddress: 'fa:16:3e:00:00:90',
          address: '10.50.0.9',
          reason: 'PortTooOld',
          message: 'older',
        },
      ],
    },
  ]),
  kubernetesNodes: new Map(),
  nodeConfigs: new Map(),
  clusterNetworks: new Map(),
};
const unchanged: PlanView = {
  ...changedPlan,
  nodes: [],
  heldRemovals: 0,
  problems: [],
  dryRun: { validated: false, message: 'legacy' },
};

const fixed = { output: 'table', headers: true, businessContext: new Map() } as const;

describe('screens', () => {
  it.each(['en', 'ko'] as const)('status in %s', async (lang) => {
    const sections = examine(broken);
    const page = {
      facts: broken,
      inventory: read({ version: '0.2.0', milliseconds: 3 }),
      findings: problemsIn(sections),
      unread: [],
      skipped: optionalIn(sections, lang),
    };
    await expect(`${statusText(page, { ...fixed, lang })}\n`).toMatchFileSnapshot(
      `screens/status.${lang}.txt`,
    );
  });

  it.each(['en', 'ko'] as const)('doctor in %s', async (lang) => {
    const page = {
      facts: broken,
      sections: examine(broken),
      unread: [],
      options: { businessContext: new Map<string, string>(), context: 'prod-mgmt' },
      seconds: 2.8,
    };
    await expect(`${doctorText(page, lang)}\n`).toMatchFileSnapshot(`screens/doctor.${lang}.txt`);
  });

  it.each(['en', 'ko'] as const)('why in %s, for each fault', async (lang) => {
    const held = further.filter(({ reason }) => reason === 'RemovalHeld');
    const planted = recordedFaults.map(({ number, title, facts }) => ({
      title: `${number} ${title}`,
      facts,
    }));
    const texts = [...planted, ...held].map(({ title, facts }) => {
      const explanation = explainPort({ ...portFacts, ...facts });
      return `# ${title}\n${whyPage([explanation], unreadSources(explanation.missing), lang)}\n`;
    });
    await expect(texts.join('\n')).toMatchFileSnapshot(`screens/why.${lang}.txt`);
  });

  it('nics with an unused port, wide', async () => {
    const { columns } = nicList(() => now);
    const rows = broken.nodes.state === 'read' ? broken.nodes.value.flatMap(nicRows) : [];
    const text = formatTable(columns, rows, { wide: true, headers: true });
    await expect(`${text}\n`).toMatchFileSnapshot('screens/nics.txt');
  });

  it.each(['en', 'ko'] as const)(
    'plan with added, changed and removed NICs in %s',
    async (lang) => {
      const approve = allowRemovals(changedPlan.config);
      const texts = [changedPlan, unchanged].map((plan) =>
        planText({ plan, onlyRemovals: false, approve, nodeLines: [] }, lang),
      );
      await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot(`screens/plan.${lang}.txt`);
    },
  );

  it.each(['en', 'ko'] as const)('allow-removals in %s', async (lang) => {
    const { nodes, budgets = [] } = changedPlan;
    const hold = {
      config: changedPlan.config,
      message: 'OverBudget: 4 of 12 nodes in the business cluster would lose NICs within an hour',
      nics: 1,
      nodes: nodes.map(({ nodeName, instanceId, heldNics = [] }) => ({
        nodeName,
        instanceId,
        heldNics,
      })),
      budgets,
    };
    const former = { ...hold, nics: undefined, nodes: [], budgets: [] };
    const texts = [hold, { ...hold, nics: 84 }, former].flatMap((each) => [
      holdText(each, lang),
      questionText(each, lang),
      consentText(each, '2026-11-26T06:25:00.000Z', lang),
    ]);
    const text = [...texts, nothingWaitsText(hold.config, lang)].join('\n\n');
    await expect(`${text}\n`).toMatchFileSnapshot(`screens/allow-removals.${lang}.txt`);
  });

  it.each(['en', 'ko'] as const)('sync and diff in %s', async (lang) => {
    const ready = { status: 'False', reason: 'KeystoneError', message: 'keystone: 401' };
    const nextAt = '2026-11-26T06:25:00Z';
    const synced = { config: 'multinic-system/storage', provider: 'biz-1', nextAt, now };
    const drifted = node(17, {
      drifted: true,
      ready: 'False',
      reason: 'NICInUse',
      message: 'multinic1: in use',
    });
    const long = {
      nic: 'multinic0',
      lines: ['ip link set mtu 1450', 'ip rule add f…'],
      complete: false,
    };
    const skipped = skippedIn(examine(broken), lang);
    const heal = 'kubectl multinic sync --node biz-1/worker-17';
    const why = 'kubectl multinic why biz-1/worker-17';
    const page = { heal, why, now, next: [] };
    const texts = [
      syncText({ ...synced, ready }, lang),
      syncText({ ...synced, ready: { ...ready, status: 'True' } }, lang),
      healText(drifted, why, lang),
      healText(drifted, undefined, lang),
      diffText({ ...page, node: drifted, pending: [long], skipped }, lang),
      diffText({ ...page, node: node(17), pending: [], skipped: [] }, lang),
    ];
    await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot(`screens/sync-diff.${lang}.txt`);
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

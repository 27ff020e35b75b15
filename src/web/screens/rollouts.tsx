import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { Facts, Section } from '../parts/facts.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Age, Name, NameLink, Sign, Words } from '../parts/texts.tsx';
import { hrefToConfig, hrefToNode } from '../place/links.ts';
import { number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts, signTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type Rollouts = ScreenAnswer<'rollouts'>;
type Rollout = Rollouts['rollouts'][number];

/** Changes with a few nodes first. */
export function RolloutsScreen() {
  const reader = useScreen('rollouts', apiPath(['rollouts']));
  return (
    <Screen title={say(pageTexts.rollouts)} reader={reader}>
      {(answer) => <RolloutsContent answer={answer} />}
    </Screen>
  );
}

export function RolloutsContent({ answer: { rollouts, planned } }: { readonly answer: Rollouts }) {
  return (
    <>
      {rollouts.length === 0 && <p class="empty">{say(screenTexts.noRollouts)}</p>}
      {rollouts.map((rollout) => (
        <RolloutSection key={rollout.key} rollout={rollout} />
      ))}
      <Section title={say(screenTexts.planned)}>
        <Table
          label={say(screenTexts.planned)}
          columns={plannedColumns}
          rows={planned}
          keyOf={({ config, what }) => `${config} ${what.en}`}
          empty={screenTexts.noPlanned}
        />
      </Section>
    </>
  );
}

const counted = ['done', 'running', 'failed', 'waiting'] as const;

function RolloutSection({ rollout }: { readonly rollout: Rollout }) {
  const { providerId, config, what, step, steps, message, nodes, total } = rollout;
  return (
    <Section title={<Words text={what} />}>
      <p>
        <Sign of={step} />{' '}
        <span class="quiet">
          <Name value={providerId} />
          {config !== undefined && (
            <>
              {' '}
              <NameLink value={config} href={hrefToConfig(config)} />
            </>
          )}
        </span>
      </p>
      <ul class="inline">
        {counted.map((state) => (
          <li key={state}>
            <Sign of={state}>
              : {number(rollout[state])}/{number(total)}
            </Sign>
          </li>
        ))}
      </ul>
      <Facts
        facts={steps.map(({ name, nodes: size, done }) => [
          signTexts[name],
          say(filled(screenTexts.stepDone, { done: number(done), nodes: number(size) })),
        ])}
      />
      {message.en !== '' && (
        <p>
          <Words text={message} />
        </p>
      )}
      <Table
        label={say(pageTexts.nodes)}
        columns={nodeColumns(providerId)}
        rows={nodes}
        keyOf={({ nodeName }) => nodeName}
        empty={screenTexts.noNodes}
      />
    </Section>
  );
}

function nodeColumns(providerId: string): readonly Column<Rollout['nodes'][number]>[] {
  return [
    {
      title: screenTexts.node,
      cell: ({ nodeName }) => <NameLink value={nodeName} href={hrefToNode(providerId, nodeName)} />,
    },
    { title: screenTexts.state, cell: ({ state }) => <Sign of={state} /> },
    { title: screenTexts.message, cell: ({ text }) => <Words text={text} /> },
    { title: screenTexts.time, cell: ({ at }) => <Age at={at} /> },
  ];
}

const plannedColumns: readonly Column<Rollouts['planned'][number]>[] = [
  {
    title: pageTexts.config,
    cell: ({ config }) => <NameLink value={config} href={hrefToConfig(config)} />,
  },
  { title: screenTexts.change, cell: ({ what }) => <Words text={what} /> },
  { title: pageTexts.nodes, cell: ({ nodes }) => number(nodes), isNumber: true },
  { title: screenTexts.steps, cell: ({ steps }) => steps.map(number).join(' → ') },
];
